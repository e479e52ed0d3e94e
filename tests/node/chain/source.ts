/** A simulated source: a relay and a node at one address, whose chain and faults a test chooses. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { setTimeout } from "node:timers/promises";
import type { SimulatedBlock } from "./blocks.js";

/** A question to a source. */
export interface Asked {
  /** The path of a relay's answer, or the method of a node's. */
  name: string;
  params: Record<string, unknown>;
}

/** Answers a question itself, and returns `true`, or leaves it to the source. */
export type Fault = (asked: Asked, response: ServerResponse) => boolean;

/** A source on loopback. */
export class SimulatedSource {
  chain: readonly SimulatedBlock[];
  /** The difficulty of every block. */
  difficulty = 1n;
  fault: Fault | undefined;
  /** Milliseconds before each of a node's blocks. */
  delay = 0;
  /** The requests so far. */
  readonly asked: Asked[] = [];
  readonly #server: Server;

  private constructor(chain: readonly SimulatedBlock[]) {
    this.chain = chain;
    this.#server = createServer((request, response) => {
      void this.#answer(request, response);
    });
  }

  static async start(chain: readonly SimulatedBlock[]): Promise<SimulatedSource> {
    const source = new SimulatedSource(chain);
    source.#server.listen(0, "127.0.0.1");
    await once(source.#server, "listening");
    return source;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get tip(): SimulatedBlock {
    const tip = this.chain.at(-1);
    if (!tip) throw new Error("the chain is empty");
    return tip;
  }

  /** The number of questions with a name, so far. */
  count(name: string): number {
    return this.asked.filter((asked) => asked.name === name).length;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.setHeader("Access-Control-Allow-Origin", "*");
    if (request.method === "OPTIONS") {
      // A browser asks before it sends JSON.
      response.setHeader("Access-Control-Allow-Headers", "content-type");
      response.end();
      return;
    }
    const url = new URL(request.url ?? "/", "http://127.0.0.1");
    if (request.method === "GET") {
      const [, , name = "", first = "0", count = "0"] = url.pathname.split("/");
      const params = { first: Number(first), count: Number(count) };
      this.asked.push({ name, params });
      if (!this.fault?.({ name, params }, response)) this.#relay(name, params, response);
      return;
    }
    let body = "";
    for await (const chunk of request) body += String(chunk);
    const json = JSON.parse(body) as { method?: string; params?: Record<string, unknown> };
    const { method: name = url.pathname.slice(1), params = json } = json;
    this.asked.push({ name, params });
    if (this.fault?.({ name, params }, response)) return;
    if (name === "get_block") await setTimeout(this.delay);
    const result = this.#node(name, params);
    const isRpc = url.pathname === "/json_rpc";
    response.end(JSON.stringify(isRpc ? { jsonrpc: "2.0", id: "0", ...result } : result.result));
  }

  #relay(
    name: string,
    { first, count }: { first: number; count: number },
    to: ServerResponse,
  ): void {
    const blocks = this.chain.slice(first, first + count);
    if (name === "tip") {
      const { height, id } = this.tip;
      to.end(JSON.stringify({ first: 1, height, id }));
    } else if (blocks.length === 0) {
      to.writeHead(404).end();
    } else if (name === "headers") {
      const records = blocks.flatMap(({ hashingBlob }) => [[hashingBlob.length], hashingBlob]);
      to.end(Buffer.concat(records.map((record) => Uint8Array.from(record))));
    } else {
      const records = Buffer.alloc(16 * blocks.length);
      blocks.forEach((_, index) => records.writeBigUInt64LE(this.difficulty, 16 * index));
      to.end(records);
    }
  }

  #node(method: string, params: Record<string, unknown>): { result?: object; error?: object } {
    const block = this.chain[Number(params.height)];
    const status = "OK";
    switch (method) {
      case "get_info":
        return {
          result: {
            status,
            height: this.chain.length,
            top_block_hash: this.tip.id,
            wide_difficulty: "0x1",
            nettype: "fakechain",
            synchronized: true,
          },
        };
      case "get_block":
        if (!block) return { error: { code: -2, message: "Requested block height is too great" } };
        return {
          result: {
            status,
            block_header: this.#header(block),
            blob: Buffer.from(block.block).toString("hex"),
          },
        };
      case "get_block_header_by_height":
        if (!block) return { error: { code: -2, message: "Requested block height is too great" } };
        return { result: { status, block_header: this.#header(block) } };
      case "get_block_headers_range": {
        const [first, last] = [Number(params.start_height), Number(params.end_height)];
        const headers = this.chain.slice(first, last + 1).map((block) => this.#header(block));
        return { result: { status, headers } };
      }
      case "get_transactions": {
        const [txid] = params.txs_hashes as string[];
        const found = this.chain.find(({ minerTransaction }) => minerTransaction === txid);
        if (!found) return { result: { status, missed_tx: [txid] } };
        const tx = { tx_hash: txid, block_height: found.height, in_pool: false, as_hex: "" };
        return { result: { status, txs: [tx] } };
      }
      default:
        return { error: { code: -32601, message: "Method not found" } };
    }
  }

  #header({ height, id, timestamp, minerTransaction }: SimulatedBlock): object {
    return {
      height,
      hash: id,
      prev_hash: this.chain[height - 1]?.id ?? "00".repeat(32),
      major_version: 16,
      minor_version: 16,
      timestamp,
      nonce: 0,
      num_txes: 0,
      // The genesis block of these chains has none.
      miner_tx_hash: minerTransaction === "" ? "00".repeat(32) : minerTransaction,
      orphan_status: false,
      wide_difficulty: `0x${this.difficulty.toString(16)}`,
      wide_cumulative_difficulty: `0x${(BigInt(height) + 1n).toString(16)}`,
    };
  }
}

/** Sources that end together. */
export class SimulatedSources {
  readonly #started: SimulatedSource[] = [];

  async start(chain: readonly SimulatedBlock[]): Promise<SimulatedSource> {
    const source = await SimulatedSource.start(chain);
    this.#started.push(source);
    return source;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#started.splice(0).map((source) => source.stop()));
  }
}
