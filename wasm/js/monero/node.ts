/** A client of Monero's daemon. */
import { invalidArgument } from "../errors.js";
import * as validate from "../validate.js";
import * as answers from "./answers.js";
import type { NodeBlock, NodeHeader, NodeInfo } from "./answers.js";
import type { ChainCheckpoint } from "./checkpoint.js";
import { hex } from "./hex.js";
import { call, type RpcSettings } from "./rpc.js";

/** How a node is asked. */
export interface MoneroNodeOptions {
  /** Milliseconds that an attempt may take from the request to the last byte: 30,000. */
  timeout?: number | undefined;
  /** Attempts after one that met no connection, no answer in time or a busy node, 0 to 10: 2. */
  retries?: number | undefined;
  /** The longest answer, in bytes: 8 MiB. */
  maxBytes?: number | undefined;
  /** Sends the requests: `globalThis.fetch`, or one that goes through Tor or adds a login. */
  fetch?: typeof globalThis.fetch | undefined;
}

/** How a call is stopped. */
export interface NodeCallOptions {
  /** Aborting it rejects the call at once with code `aborted`. */
  signal?: AbortSignal | undefined;
}

/** How blocks are read one after another. */
export interface NodeBlocksOptions extends NodeCallOptions {
  /** Blocks that are asked for before they are wanted, 1 to 64: 8. */
  ahead?: number | undefined;
}

/** The most headers that nodes for the public give at once. */
const MAX_HEADERS = 1000;

/** Blocks that the difficulty rule looks at. */
const RECENT = 735;

/** Blocks from one that gives a key to the next. */
const SEED_EPOCH = 2048;

const MAX_TIMEOUT = 3_600_000;
const MAX_RETRIES = 10;
const MAX_AHEAD = 64;
const MIB = 1 << 20;

/**
 * A Monero node, asked over its JSON-RPC.
 *
 * Nothing that it answers is known to be true: every field has the form that it should have,
 * and belongs to the block that was asked for. Hand its blocks to `RandomX.verifyChain`.
 *
 * Calls reject with a `RandomXError`: `invalid-argument`, `aborted`, `node-unreachable`,
 * `node-timeout`, `node-refused`, `node-too-large` or `node-invalid`.
 *
 * In a page, the node must allow the page's origin (`--rpc-access-control-origins`) and the
 * page's policy the node (`connect-src`).
 */
export class MoneroNode {
  readonly #settings: RpcSettings;

  /**
   * @param url - the node's address, such as `http://127.0.0.1:18081`. Nothing is sent yet.
   * @throws {@link RandomXError} `invalid-argument`.
   */
  constructor(url: string | URL, options: MoneroNodeOptions = {}) {
    const { timeout, retries, maxBytes, fetch } = validate.record("options", options);
    this.#settings = {
      endpoint: endpoint(url),
      timeout: timeout === undefined ? 30_000 : validate.count("timeout", timeout, MAX_TIMEOUT),
      retries: retries === 0 ? 0 : validate.count("retries", retries ?? 2, MAX_RETRIES),
      maxBytes: maxBytes === undefined ? 8 * MIB : validate.count("maxBytes", maxBytes, 1024 * MIB),
      fetch: fetcher(fetch),
    };
  }

  /** What the node says of itself. */
  async getInfo(options: NodeCallOptions = {}): Promise<NodeInfo> {
    return answers.info(await this.#call("get_info", {}, options));
  }

  /** The header of the block at a height of the node's chain. */
  async getBlockHeaderByHeight(height: number, options: NodeCallOptions = {}): Promise<NodeHeader> {
    const asked = { height: validate.height("height", height) };
    const method = "get_block_header_by_height";
    return answers.header(method, await this.#call(method, asked, options), asked);
  }

  /** The headers of the blocks from `first` to `last`, at most 1000. */
  async getBlockHeadersRange(
    first: number,
    last: number,
    options: NodeCallOptions = {},
  ): Promise<NodeHeader[]> {
    const range = { start_height: validate.height("first", first), end_height: last };
    validate.height("last", last);
    if (last < first || last - first >= MAX_HEADERS) {
      throw invalidArgument("last", `expected ${first} to ${first + MAX_HEADERS - 1}, got ${last}`);
    }
    const result = await this.#call("get_block_headers_range", range, options);
    return answers.headers(result, first, last);
  }

  /**
   * A block, with its blob.
   *
   * @param block - its height, or its id.
   */
  async getBlock(
    block: number | validate.Bytes,
    options: NodeCallOptions = {},
  ): Promise<NodeBlock> {
    if (typeof block === "number") {
      const asked = { height: validate.height("block", block) };
      return answers.block(await this.#call("get_block", asked, options), asked);
    }
    const id = hex(validate.hash("block", block));
    return answers.block(await this.#call("get_block", { hash: id }, options), { id });
  }

  /** The blocks from `first` to `last`, in order; some are asked for in advance. */
  async *getBlocks(
    first: number,
    last: number,
    options: NodeBlocksOptions = {},
  ): AsyncGenerator<NodeBlock, void, undefined> {
    validate.height("first", first);
    validate.height("last", last);
    if (last < first) throw invalidArgument("last", `expected at least ${first}, got ${last}`);
    const { ahead = 8 } = validate.record("options", options);
    const most = validate.count("ahead", ahead, MAX_AHEAD);
    // Whoever stops listening stops the requests, too.
    const stop = new AbortController();
    const signal = validate.signal("signal", options.signal);
    const onAbort = (): void => {
      stop.abort(signal?.reason);
    };
    if (signal?.aborted) onAbort();
    signal?.addEventListener("abort", onAbort);
    const asked: Promise<NodeBlock>[] = [];
    try {
      for (let height = first, next = first; height <= last; height += 1) {
        for (; next <= last && asked.length < most; next += 1) {
          const block = this.getBlock(next, { signal: stop.signal });
          // It is waited for later, and must not count as unhandled until then.
          block.catch(() => undefined);
          asked.push(block);
        }
        const block = asked.shift();
        if (block) yield await block;
      }
    } finally {
      signal?.removeEventListener("abort", onAbort);
      stop.abort();
    }
  }

  /**
   * What the node says of its chain up to a block, as a checkpoint for `verifyChain`.
   *
   * All of it is believed: a chain that is verified from it is as good as this node was then. Keep
   * the checkpoint that comes of that, and begin there the next time.
   */
  async getCheckpoint(height: number, options: NodeCallOptions = {}): Promise<ChainCheckpoint> {
    validate.height("height", height);
    const first = Math.max(0, height + 1 - RECENT);
    const newest = height - (height % SEED_EPOCH);
    // The key of the next block is one of the last two that became known.
    const seedHeights = [newest - SEED_EPOCH, newest].filter((height) => height >= 0);
    const [headers, seeds] = await Promise.all([
      this.getBlockHeadersRange(first, height, options),
      Promise.all(seedHeights.map((height) => this.getBlockHeaderByHeight(height, options))),
    ]);
    return {
      height,
      id: headers.at(-1)?.id ?? "",
      recent: headers.map(({ timestamp, difficulty }) => ({
        timestamp,
        difficulty: difficulty.toString(),
      })),
      seeds: seeds.map(({ height, id }) => ({ height, id })),
    };
  }

  async #call(
    method: string,
    params: object,
    options: NodeCallOptions,
  ): Promise<Record<string, unknown>> {
    const { signal } = validate.record("options", options);
    return call(this.#settings, method, params, validate.signal("signal", signal));
  }
}

/** The JSON-RPC endpoint of a node. */
function endpoint(url: unknown): URL {
  let address: URL;
  try {
    address = new URL(url instanceof URL ? url.href : String(url));
  } catch {
    throw invalidArgument("url", "expected an address such as http://127.0.0.1:18081");
  }
  if (address.protocol !== "http:" && address.protocol !== "https:") {
    throw invalidArgument("url", `expected http: or https:, got ${address.protocol}`);
  }
  if (address.username || address.password) {
    throw invalidArgument("url", "a login in the address is not supported: see options.fetch");
  }
  address.search = "";
  address.hash = "";
  address.pathname = `${address.pathname.replace(/\/(?:json_rpc)?$/u, "")}/json_rpc`;
  return address;
}

function fetcher(given: unknown): typeof globalThis.fetch {
  if (given === undefined) return globalThis.fetch.bind(globalThis);
  if (typeof given === "function") return given as typeof globalThis.fetch;
  throw invalidArgument("fetch", "expected a function");
}
