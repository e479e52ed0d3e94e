/** Debian's `monero-wallet-rpc`, unmodified, on loopback, with its wallets in a temporary folder. */
import { spawn, type ChildProcess } from "node:child_process";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { freePort } from "../programs.js";
import { end, isRunning, killAtEnd, makeFolder, removeFolder } from "./leftovers.js";

type Json = Record<string, unknown>;

/** The time limit for the program's start, in milliseconds. */
const STARTUP = 180_000;

/** Whether a wallet tries TLS with its node first, as users' wallets do, or speaks HTTP alone. */
export type NodeSsl = "autodetect" | "disabled";

/** A wallet's height and balance. The height is the number of blocks that it has scanned. */
export interface Shown {
  height: number;
  balance: number;
}

/** The wallet's error messages if the daemon did not answer in time. */
const NO_ANSWER = new Set(["no connection to daemon", "failed to get blocks"]);

/** The error that a wallet shows. */
export class WalletError extends Error {}

export class WalletRpc {
  readonly #url: string;
  readonly #process: ChildProcess;
  readonly #folder: string;
  readonly #ssl: NodeSsl;

  private constructor(url: string, process: ChildProcess, folder: string, ssl: NodeSsl) {
    this.#url = url;
    this.#process = process;
    this.#folder = folder;
    this.#ssl = ssl;
  }

  /**
   * Starts the program with a node's address, in a new folder or in that of an earlier run. To try TLS, it would
   * compute a new RSA key for each node that it is given, for seconds.
   */
  static async start(node: string, folder?: string, ssl: NodeSsl = "disabled"): Promise<WalletRpc> {
    const wallets = folder ?? (await makeFolder("wallet"));
    const port = await freePort();
    const args = [
      ...["--daemon-address", node.replace("http://", ""), "--daemon-ssl", ssl],
      ...["--wallet-dir", wallets],
      ...["--rpc-bind-port", String(port), "--disable-rpc-login", "--rpc-ssl", "disabled"],
      ...["--log-file", join(wallets, "log"), "--shared-ringdb-dir", join(wallets, "rings")],
    ];
    const program = process.env.WALLET_RPC_PATH ?? "monero-wallet-rpc";
    const child = killAtEnd(spawn(program, args, { stdio: "ignore" }));
    // The loop reports a program that is missing.
    child.once("error", () => undefined);
    const wallet = new WalletRpc(`http://127.0.0.1:${port}`, child, wallets, ssl);
    const limit = performance.now() + STARTUP;
    while (performance.now() < limit && isRunning(child)) {
      try {
        await wallet.call("get_version");
        return wallet;
      } catch {
        await pause(50);
      }
    }
    await wallet.stop();
    throw new Error(
      "monero-wallet-rpc did not start; install Debian's package monero or set WALLET_RPC_PATH",
    );
  }

  /**
   * Calls a method, and throws what the wallet says if it fails. A daemon that has just mined many blocks may
   * answer too late for the wallet, so a missing answer gets a second try.
   */
  async call(method: string, params: Json = {}): Promise<Json> {
    return this.#call(method, params).catch((error: unknown) => {
      if (!(error instanceof WalletError) || !NO_ANSWER.has(error.message)) throw error;
      return this.#call(method, params);
    });
  }

  async #call(method: string, params: Json): Promise<Json> {
    const body = JSON.stringify({ jsonrpc: "2.0", id: "0", method, params });
    const response = await fetch(`${this.#url}/json_rpc`, { method: "POST", body });
    const answer = (await response.json()) as { result?: Json; error?: { message: string } };
    if (answer.result === undefined) throw new WalletError(answer.error?.message ?? "no result");
    return answer.result;
  }

  /** Creates a wallet, and returns its address and its 25 words. */
  async create(filename: string): Promise<{ address: string; seed: string }> {
    await this.call("create_wallet", { filename, language: "English" });
    await this.#scanOnlyWhenCalled();
    const { address } = (await this.call("get_address")) as { address: string };
    const { key } = (await this.call("query_key", { key_type: "mnemonic" })) as { key: string };
    return { address, seed: key };
  }

  /** Restores a wallet that scans from a height. */
  async restore(filename: string, seed: string, height: number): Promise<void> {
    const params = { filename, seed, restore_height: height, password: "", language: "English" };
    await this.call("restore_deterministic_wallet", params);
    await this.#scanOnlyWhenCalled();
  }

  /** Opens a wallet of an earlier run. */
  async open(filename: string): Promise<void> {
    await this.call("open_wallet", { filename });
    await this.#scanOnlyWhenCalled();
  }

  /** Scans, and returns what the wallet shows. */
  async refresh(): Promise<Shown> {
    await this.call("refresh");
    return this.shown();
  }

  /** Returns what the wallet shows without asking its node. */
  async shown(): Promise<Shown> {
    const { height } = (await this.call("get_height")) as { height: number };
    const { balance } = (await this.call("get_balance")) as { balance: number };
    return { height, balance };
  }

  /** Uses another node. */
  async connect(node: string): Promise<void> {
    const address = node.replace("http://", "");
    await this.call("set_daemon", { address, ssl_support: this.#ssl });
  }

  /** Ends the program, and starts it again with the same wallets and a node. */
  async restart(node: string): Promise<WalletRpc> {
    return WalletRpc.start(node, await this.close(), this.#ssl);
  }

  /** Stores the wallet, ends the program, and returns its folder. */
  async close(): Promise<string> {
    await this.call("store");
    await end(this.#process);
    return this.#folder;
  }

  /** Ends the program and removes its folder. */
  async stop(): Promise<void> {
    await end(this.#process);
    await removeFolder(this.#folder);
  }

  /** Otherwise the wallet scans every 20 seconds. */
  async #scanOnlyWhenCalled(): Promise<void> {
    await this.call("auto_refresh", { enable: false });
  }
}
