/** Monero's daemon with a chain of its own, on loopback, in a temporary folder. */
import { spawn, type ChildProcess } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { twoFreePorts } from "../programs.js";
import { end, isRunning, killAtEnd, makeFolder, removeFolder } from "./leftovers.js";

type Json = Record<string, unknown>;

/** The address that receives block rewards; an unused one from Monero's own tests. */
const ADDRESS =
  "42ey1afDFnn4886T7196doS9GPMzexD9gXpsZJDwVjeRVdFCSoHnv7KPbBeGpzJBzHRCAs9UxqeoyFQMYbqSWYTfJJQAWDm";

/** The time limit for the daemon's start, in milliseconds. */
const STARTUP = 180_000;

/** The time limit for a daemon to take its peer's blocks, in milliseconds. */
const SYNC = 120_000;

/** A template for the next block. */
export interface Template {
  height: number;
  difficulty: bigint;
  seedHash: string;
  /** The block and its hashing blob, with nonce 0. */
  block: Buffer;
  hashingBlob: Buffer;
}

export class Daemon {
  readonly url: string;
  /** The address for peers. */
  readonly peerAddress: string;
  readonly #folder: string;
  readonly #args: readonly string[];
  #process: ChildProcess;
  #output = "";

  private constructor(folder: string, rpc: number, p2p: number, options: readonly string[]) {
    this.url = `http://127.0.0.1:${rpc}`;
    this.peerAddress = `127.0.0.1:${p2p}`;
    this.#folder = folder;
    this.#args = [
      ...options,
      ...["--data-dir", folder, "--no-igd", "--hide-my-port", "--no-zmq", "--non-interactive"],
      ...["--p2p-bind-ip", "127.0.0.1", "--p2p-bind-port", String(p2p)],
      ...["--rpc-bind-ip", "127.0.0.1", "--rpc-bind-port", String(rpc)],
      // For TLS, which no test asks it for, it would compute a new RSA key at each start, for seconds.
      ...["--rpc-access-control-origins", "*", "--rpc-ssl", "disabled"],
      // A test commits to disk some hundred times.
      ...["--db-sync-mode", "fastest:async:100"],
    ];
    this.#process = this.#spawn();
  }

  /**
   * Starts a daemon. Blocks have the fixed difficulty, or follow the difficulty rule. It has no other
   * peers than the one that is named, or accepts one if it is `listening`, or else has none.
   */
  static start(fixedDifficulty?: number, peer?: Daemon | "listening"): Promise<Daemon> {
    const fixed = fixedDifficulty === undefined ? [] : [`--fixed-difficulty=${fixedDifficulty}`];
    return Daemon.#launch("--regtest", ...fixed, ...peerOptions(peer));
  }

  /** Starts two daemons with difficulty 1. If one fails, the other is stopped. */
  static async startTwo(): Promise<[Daemon, Daemon]> {
    const starts: [Promise<Daemon>, Promise<Daemon>] = [Daemon.start(1), Daemon.start(1)];
    try {
      return await Promise.all(starts);
    } catch (error) {
      for (const each of await Promise.allSettled(starts)) {
        if (each.status === "fulfilled") await each.value.stop();
      }
      throw error;
    }
  }

  /** Starts a daemon of a public network, without peers: it has the genesis block alone. */
  static startEmpty(network: "testnet" | "stagenet"): Promise<Daemon> {
    return Daemon.#launch(`--${network}`, ...peerOptions(undefined));
  }

  static async #launch(...options: string[]): Promise<Daemon> {
    const folder = await makeFolder("regtest");
    const daemon = new Daemon(folder, ...(await twoFreePorts()), options);
    await daemon.#started();
    return daemon;
  }

  /** Ends the daemon, and starts it again with its chain. */
  async restart(): Promise<void> {
    await end(this.#process, "SIGTERM");
    this.#process = this.#spawn();
    await this.#started();
  }

  /** Calls a method of its JSON-RPC. */
  async call(method: string, params: Json | string[] = {}): Promise<Json | string> {
    const body = JSON.stringify({ jsonrpc: "2.0", id: "0", method, params });
    const response = await fetch(`${this.url}/json_rpc`, { method: "POST", body });
    const answer = (await response.json()) as { result?: Json | string; error?: Json };
    if (answer.result === undefined) throw new Error(`${method}: ${JSON.stringify(answer.error)}`);
    return answer.result;
  }

  /** Has the daemon mine blocks for an address, and returns their ids. */
  async generate(count: number, address = ADDRESS): Promise<string[]> {
    const params = { amount_of_blocks: count, wallet_address: address };
    return ((await this.call("generateblocks", params)) as { blocks: string[] }).blocks;
  }

  /** Returns a template for the next block. */
  async template(): Promise<Template> {
    const params = { wallet_address: ADDRESS, reserve_size: 1 };
    const template = (await this.call("get_block_template", params)) as Record<string, string>;
    return {
      height: Number(template.height),
      difficulty: BigInt(template.wide_difficulty ?? 0),
      seedHash: template.seed_hash ?? "",
      block: Buffer.from(template.blocktemplate_blob ?? "", "hex"),
      hashingBlob: Buffer.from(template.blockhashing_blob ?? "", "hex"),
    };
  }

  /** Submits a block, which the daemon refuses if it is invalid. */
  async submit(block: Buffer): Promise<void> {
    await this.call("submit_block", [block.toString("hex")]);
  }

  /** Copies the blocks of another daemon from a height on. */
  async copy(from: Daemon, first: number, last: number): Promise<void> {
    for (let height = first; height <= last; height += 1) {
      const { blob, tx_hashes: ids } = (await from.call("get_block", { height })) as {
        blob: string;
        tx_hashes?: string[];
      };
      if (ids) await this.#copyTransactions(from, ids);
      await this.submit(Buffer.from(blob, "hex"));
    }
  }

  async #copyTransactions(from: Daemon, ids: string[]): Promise<void> {
    const body = JSON.stringify({ txs_hashes: ids });
    const response = await fetch(`${from.url}/get_transactions`, { method: "POST", body });
    const { txs_as_hex: all } = (await response.json()) as { txs_as_hex: string[] };
    for (const transaction of all) {
      const sent = JSON.stringify({ tx_as_hex: transaction, do_not_relay: true });
      await fetch(`${this.url}/send_raw_transaction`, { method: "POST", body: sent });
    }
  }

  /** Removes the last blocks. */
  async pop(count: number): Promise<void> {
    await this.#post("pop_blocks", { nblocks: count });
  }

  /** Sets how many peers it connects to, and ends other connections that it began. */
  async setPeers(count: number): Promise<void> {
    await this.#post("out_peers", { set: true, out_peers: count });
  }

  /** Waits until a block is the newest of its chain. */
  async reach(id: string): Promise<void> {
    await this.#until(`reach block ${id}`, ({ top_block_hash: top }) => top === id);
  }

  /** Waits until it has the chain of its peer, before which it mines nothing. */
  async synchronize(): Promise<void> {
    await this.#until("synchronize", ({ synchronized }) => synchronized === true);
  }

  /** Stops the daemon and removes its folder. */
  async stop(): Promise<void> {
    await end(this.#process);
    await removeFolder(this.#folder);
  }

  async #until(what: string, isDone: (info: Json) => boolean): Promise<void> {
    const limit = performance.now() + SYNC;
    while (performance.now() < limit) {
      if (isDone((await this.call("get_info")) as Json)) return;
      await pause(100);
    }
    throw new Error(`monerod did not ${what}\n${this.#output}`);
  }

  async #post(path: string, params: Json): Promise<void> {
    const body = JSON.stringify(params);
    const response = await fetch(`${this.url}/${path}`, { method: "POST", body });
    const { status } = (await response.json()) as Json;
    if (status !== "OK") throw new Error(`${path}: ${String(status)}`);
  }

  #spawn(): ChildProcess {
    const program = process.env.MONEROD_PATH ?? "monerod";
    const child = killAtEnd(spawn(program, this.#args, { stdio: ["ignore", "pipe", "pipe"] }));
    const keep = (chunk: Buffer): void => {
      this.#output = (this.#output + chunk.toString()).slice(-10_000);
    };
    child.stdout.on("data", keep);
    child.stderr.on("data", keep);
    child.once("error", (error) => {
      this.#output += error.message;
    });
    return child;
  }

  async #started(): Promise<void> {
    const limit = performance.now() + STARTUP;
    while (performance.now() < limit && isRunning(this.#process)) {
      try {
        await this.call("get_info");
        return;
      } catch {
        await pause(100);
      }
    }
    await this.stop();
    throw new Error(
      `monerod did not start; install Debian's package monero or set MONEROD_PATH\n${this.#output}`,
    );
  }
}

function peerOptions(peer: Daemon | "listening" | undefined): string[] {
  if (peer === undefined) return ["--offline"];
  // A port without a daemon keeps it from asking for public nodes.
  const address = peer === "listening" ? "127.0.0.1:1" : peer.peerAddress;
  return ["--add-exclusive-node", address, "--allow-local-ip", "--check-updates", "disabled"];
}
