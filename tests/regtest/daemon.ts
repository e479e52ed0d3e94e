/** Monero's daemon with a chain of its own, on loopback, in a temporary folder. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { freePort } from "../programs.js";

type Json = Record<string, unknown>;

/** The address that receives block rewards; an unused one from Monero's own tests. */
const ADDRESS =
  "42ey1afDFnn4886T7196doS9GPMzexD9gXpsZJDwVjeRVdFCSoHnv7KPbBeGpzJBzHRCAs9UxqeoyFQMYbqSWYTfJJQAWDm";

/** The time limit for the daemon's start, in milliseconds. */
const STARTUP = 180_000;

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
  readonly #process: ChildProcess;
  readonly #folder: string;
  #output = "";

  private constructor(url: string, process: ChildProcess, folder: string) {
    this.url = url;
    this.#process = process;
    this.#folder = folder;
    const keep = (chunk: Buffer): void => {
      this.#output = (this.#output + chunk.toString()).slice(-10_000);
    };
    process.stdout?.on("data", keep);
    process.stderr?.on("data", keep);
    process.once("error", (error) => {
      this.#output += error.message;
    });
  }

  /** Starts a daemon. Blocks have the fixed difficulty, or follow the difficulty rule. */
  static start(fixedDifficulty?: number): Promise<Daemon> {
    const fixed = fixedDifficulty === undefined ? [] : [`--fixed-difficulty=${fixedDifficulty}`];
    return Daemon.#launch("--regtest", ...fixed);
  }

  /** Starts a daemon of a public network, without peers: it has the genesis block alone. */
  static startEmpty(network: "testnet" | "stagenet"): Promise<Daemon> {
    return Daemon.#launch(`--${network}`);
  }

  static async #launch(...kind: string[]): Promise<Daemon> {
    const folder = await mkdtemp(join(tmpdir(), "randomx-regtest-"));
    const [rpc, p2p] = [await freePort(), await freePort()];
    const args = [
      ...kind,
      "--offline",
      ...["--data-dir", folder, "--no-igd", "--hide-my-port", "--no-zmq", "--non-interactive"],
      ...["--p2p-bind-ip", "127.0.0.1", "--p2p-bind-port", String(p2p)],
      ...["--rpc-bind-ip", "127.0.0.1", "--rpc-bind-port", String(rpc)],
      ...["--rpc-access-control-origins", "*"],
      // A test commits to disk some hundred times.
      ...["--db-sync-mode", "fastest:async:100"],
    ];
    const program = process.env.MONEROD_PATH ?? "monerod";
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
    const daemon = new Daemon(`http://127.0.0.1:${rpc}`, child, folder);
    await daemon.#started();
    return daemon;
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
    const body = JSON.stringify({ nblocks: count });
    const response = await fetch(`${this.url}/pop_blocks`, { method: "POST", body });
    if (!response.ok) throw new Error(`pop_blocks: ${response.status}`);
  }

  /** Stops the daemon and removes its folder. */
  async stop(): Promise<void> {
    if (this.#process.exitCode === null && this.#process.pid !== undefined) {
      const ended = once(this.#process, "exit");
      this.#process.kill("SIGKILL");
      await ended;
    }
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #started(): Promise<void> {
    const limit = performance.now() + STARTUP;
    while (performance.now() < limit && this.#process.exitCode === null) {
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
