/** A daemon's chain with a wallet's rewards, and guards that follow it. */
import { cp, mkdtemp, readdir } from "node:fs/promises";
import { join } from "node:path";
import { BytesProxy } from "./bytes-proxy.js";
import { Cleanup } from "./cleanup.js";
import { Daemon } from "./daemon.js";
import { Guard, type GuardOptions } from "./guard.js";
import { makeFolder, removeFolder } from "./leftovers.js";
import { WalletRpc, type Shown } from "./wallet.js";

/** The blocks whose rewards the owner receives, the first ones. */
const REWARDS = 80;

/** The amount of a transaction, in atomic units. */
export const AMOUNT = 1_000_000_000_000;

/** The blocks after one with a transaction, more than the depth from which a fork is a lie. */
const AFTER = 15;

/** A transaction of the owner. */
export interface Sent {
  txid: string;
  key: string;
  height: number;
}

export class World {
  /** A proxy before the daemon, which may lie. */
  readonly proxy: BytesProxy;
  readonly daemon: Daemon;
  /** The wallet that received the first rewards. It asks the daemon itself. */
  readonly owner: WalletRpc;
  readonly address: string;
  readonly seed: string;
  readonly folder: string;
  /** The id of the newest block. */
  tip = "";
  readonly #cleanup: Cleanup;
  #stores = 0;
  #verifiedTip = "";
  #restored?: Promise<string>;

  private constructor(
    daemon: Daemon,
    proxy: BytesProxy,
    owner: WalletRpc,
    { address, seed }: { address: string; seed: string },
    folder: string,
    cleanup: Cleanup,
  ) {
    this.daemon = daemon;
    this.proxy = proxy;
    this.owner = owner;
    this.address = address;
    this.seed = seed;
    this.folder = folder;
    this.#cleanup = cleanup;
  }

  /** Starts a daemon with so many blocks. If anything fails, everything before it is stopped. */
  static async start(blocks: number): Promise<World> {
    const cleanup = new Cleanup();
    try {
      const folder = await makeFolder("guard");
      cleanup.add(() => removeFolder(folder));
      const daemon = await Daemon.start(1);
      cleanup.add(() => daemon.stop());
      const proxy = await BytesProxy.before(daemon.url);
      cleanup.add(() => {
        proxy.close();
      });
      const owner = await WalletRpc.start(daemon.url);
      cleanup.add(() => owner.stop());
      const wallet = await owner.create("owner");
      const world = new World(daemon, proxy, owner, wallet, folder, cleanup);
      await world.mine(REWARDS, world.address);
      await world.mine(blocks - REWARDS);
      return world;
    } catch (error) {
      // The first error matters more than those of the steps.
      await cleanup.run().catch(console.error);
      throw error;
    }
  }

  stop(): Promise<void> {
    return this.#cleanup.run();
  }

  /** Has the daemon mine blocks, and returns their ids. */
  async mine(count: number, address?: string): Promise<string[]> {
    const mined: string[] = [];
    // A call has a time limit.
    for (let left = count; left > 0; left -= 100) {
      mined.push(...(await this.daemon.generate(Math.min(left, 100), address)));
    }
    this.tip = mined.at(-1) ?? this.tip;
    return mined;
  }

  /** Returns what a wallet shows that asks the daemon itself. */
  truth(): Promise<Shown> {
    return this.owner.refresh();
  }

  /** Has the owner send a transaction to itself, and mines it and more blocks. */
  async send(): Promise<Sent> {
    await this.owner.refresh();
    const destinations = [{ amount: AMOUNT, address: this.address }];
    const sent = await this.owner.call("transfer", { destinations, get_tx_key: true });
    const { tx_hash: txid, tx_key: key } = sent as { tx_hash: string; tx_key: string };
    let height = 0;
    // A busy daemon may mine a block from a template that is older than the transaction.
    while (height === 0) {
      await this.mine(1);
      await this.owner.refresh();
      const { transfer } = (await this.owner.call("get_transfer_by_txid", { txid })) as {
        transfer: { height: number };
      };
      height = transfer.height;
    }
    await this.mine(AFTER);
    return { txid, key, height };
  }

  /** Returns a new folder for a guard's store. */
  store(): Promise<string> {
    return mkdtemp(join(this.folder, "store-"));
  }

  /** Returns a copy of a store in which the chain of now is verified. */
  async verified(): Promise<string> {
    const store = join(this.folder, "verified");
    if (this.#verifiedTip !== this.tip) {
      const guard = await this.#reaching(store, [this.daemon.url]);
      await guard.kill();
      this.#verifiedTip = this.tip;
    }
    this.#stores += 1;
    const copy = join(this.folder, `copy-${this.#stores}`);
    await cp(store, copy, { recursive: true });
    return copy;
  }

  /** Starts a guard before nodes. The chain so far is verified already. */
  async guard(nodes: string[], options?: GuardOptions): Promise<{ guard: Guard; store: string }> {
    const store = await this.verified();
    const guard = await this.#reaching(store, nodes, options);
    return { guard, store };
  }

  /** Starts a guard, and waits until it has the newest block. */
  async #reaching(store: string, nodes: string[], options?: GuardOptions): Promise<Guard> {
    const guard = await Guard.start(store, nodes, options);
    try {
      await guard.reach(this.tip);
      return guard;
    } catch (error) {
      await guard.kill();
      throw error;
    }
  }

  /** Runs with a guard before nodes, by default the proxy; see {@link World.guard}. */
  async guarded(
    run: (guard: Guard, store: string) => Promise<void>,
    nodes: string[] = [this.proxy.url],
    options?: GuardOptions,
  ): Promise<void> {
    const { guard, store } = await this.guard(nodes, options);
    try {
      await run(guard, store);
    } finally {
      this.proxy.alter = undefined;
      await guard.kill();
    }
  }

  /** Runs with a new wallet of the owner's words that has scanned nothing yet. */
  async scanner(node: string, run: (wallet: WalletRpc) => Promise<void>): Promise<void> {
    const folder = await mkdtemp(join(this.folder, "scanner-"));
    await cp(await (this.#restored ??= this.#restore()), folder, { recursive: true });
    const wallet = await WalletRpc.start(node, folder);
    try {
      await wallet.open("scanner");
      await run(wallet);
    } finally {
      await wallet.stop();
    }
  }

  /** Restores that wallet, which takes seconds, and returns its folder. No daemon listens at its node's address. */
  async #restore(): Promise<string> {
    const folder = await mkdtemp(join(this.folder, "restored-"));
    const wallet = await WalletRpc.start("http://127.0.0.1:1", folder);
    try {
      await wallet.restore("scanner", this.seed, 0);
      return await wallet.close();
    } catch (error) {
      await wallet.stop();
      throw error;
    }
  }
}

/** Returns the names of the files of evidence in a store. */
export async function evidence(store: string): Promise<string[]> {
  return (await readdir(store)).filter((name) => name.startsWith("lie-"));
}
