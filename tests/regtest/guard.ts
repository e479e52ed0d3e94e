/** Runs `randomx guard` before nodes. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { nativeProgram } from "../programs.js";
import { end, killAtEnd } from "./leftovers.js";

/** The time limit for what a guard does by itself, in milliseconds. */
const PATIENCE = 120_000;

/** The parts of `GET /guard/status` that tests read. */
export interface GuardStatus {
  tip: { height: number; id: string } | null;
  caughtUp: boolean;
  sources: { source: string; state: string; problem: string | null }[];
  nodes: { node: string; dropped: string | null; failure: string | null }[];
  refused: { node: string; method: string; reason: string; evidence: string | null }[];
  notVerified: Record<string, number>;
  verified: Record<string, number>;
}

export interface GuardOptions {
  /** A port; a free one by default. */
  port?: number;
  /** Seconds that a node may take for an answer. */
  timeout?: number;
  /** The address of a SOCKS proxy. */
  proxy?: string;
  /** A file with the certificate of an authority. */
  authority?: string | undefined;
}

export class Guard {
  readonly url: string;
  readonly #process: ChildProcess;
  readonly #log: string[];

  private constructor(url: string, process: ChildProcess, log: string[]) {
    this.url = url;
    this.#process = process;
    this.#log = log;
  }

  /** Starts a guard, and waits until it has followed the chain. */
  static async start(store: string, nodes: string[], options?: GuardOptions): Promise<Guard> {
    const guard = await Guard.spawn(store, nodes, options);
    try {
      await guard.until(({ caughtUp }) => caughtUp);
      return guard;
    } catch (error) {
      await guard.kill();
      throw error;
    }
  }

  /** Starts a guard, and waits until it listens. */
  static async spawn(
    store: string,
    nodes: string[],
    { port = 0, timeout = 20, proxy, authority }: GuardOptions = {},
  ): Promise<Guard> {
    const args = [
      ...["guard", "--network", "regtest", "--fixed-difficulty", "1", "--store", store],
      ...nodes.flatMap((node) => ["--node", node]),
      ...(proxy === undefined ? [] : ["--proxy", proxy]),
      ...(authority === undefined ? [] : ["--ca", authority]),
      ...["--listen", `127.0.0.1:${port}`, "--poll", "1", "--timeout", String(timeout)],
    ];
    const child = killAtEnd(spawn(nativeProgram(), args, { stdio: ["ignore", "pipe", "pipe"] }));
    const log: string[] = [];
    createInterface({ input: child.stderr }).on("line", (line) => log.push(line));
    const lines = createInterface({ input: child.stdout });
    const listening = once(lines, "line") as Promise<[string]>;
    const ended = once(child, "exit").then(() => undefined);
    const line = await Promise.race([listening, ended]);
    if (line === undefined) throw new Error(`the guard ended: ${log.join("\n")}`);
    return new Guard(line[0].replace("listening on ", ""), child, log);
  }

  /** The lines that it has written for people so far. */
  get log(): string {
    return this.#log.join("\n");
  }

  async status(): Promise<GuardStatus> {
    const response = await fetch(`${this.url}/guard/status`);
    return (await response.json()) as GuardStatus;
  }

  /** Waits until the newest verified block has an id. */
  async reach(id: string | undefined): Promise<void> {
    await this.until(({ tip }) => tip?.id === id);
  }

  async until(condition: (status: GuardStatus) => boolean): Promise<void> {
    const limit = performance.now() + PATIENCE;
    for (;;) {
      const status = await this.status();
      if (condition(status)) return;
      if (performance.now() > limit) {
        throw new Error(`the guard waits: ${JSON.stringify(status)}\n${this.log}`);
      }
      await pause(50);
    }
  }

  /** Kills the guard, which has no chance to clean up. */
  async kill(): Promise<void> {
    await end(this.#process);
  }

  /** Kills it too, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }
}
