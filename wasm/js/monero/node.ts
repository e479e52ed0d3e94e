/** A client of Monero's daemon. */
import { invalidArgument } from "../errors.js";
import type { Bytes } from "../types.js";
import * as validate from "../validate.js";
import * as answers from "./answers.js";
import type { NodeBlock, NodeHeader, NodeInfo } from "./answers.js";
import type { ChainCheckpoint } from "./checkpoint.js";
import { hex } from "./hex.js";
import { call, type RpcSettings } from "./rpc.js";

/** Options of {@link MoneroNode}. */
export interface MoneroNodeOptions {
  /** Milliseconds that an attempt may take from the request to the last byte. 30,000 by default. */
  timeout?: number | undefined;
  /** Attempts after a lost connection, a timeout or a busy node, 0 to 10. 2 by default. */
  retries?: number | undefined;
  /** The limit for an answer in bytes. 8 MiB by default. */
  maxBytes?: number | undefined;
  /** Sends the requests, for instance through Tor or with a login. `globalThis.fetch` by default. */
  fetch?: typeof globalThis.fetch | undefined;
}

/** How a call is aborted. */
export interface NodeCallOptions {
  /** Aborting it rejects the call at once with code `aborted`. */
  signal?: AbortSignal | undefined;
}

/** How blocks are read in sequence. */
export interface NodeBlocksOptions extends NodeCallOptions {
  /** Blocks that are requested in advance, 1 to 64. 8 by default. */
  ahead?: number | undefined;
}

/** Public nodes return at most so many headers at once. */
const MAX_HEADERS = 1000;

/** Blocks that the difficulty rule uses. */
const RECENT = 735;

/** Blocks between two whose ids are keys. */
const SEED_EPOCH = 2048;

const MAX_TIMEOUT = 3_600_000;
const MAX_RETRIES = 10;
const MAX_AHEAD = 64;
const MIB = 1 << 20;

/**
 * A client of a Monero node's JSON-RPC.
 *
 * It checks the form of every field, and that an answer belongs to the requested block. It does not
 * check whether the answers are true: pass the blocks to `RandomX.verifyChain` for that.
 *
 * Calls reject with a `RandomXError`: `invalid-argument`, `aborted`, `node-unreachable`,
 * `node-timeout`, `node-refused`, `node-too-large` or `node-invalid`.
 *
 * In a page, the node must allow the page's origin (`--rpc-access-control-origins`), and the page's
 * policy must allow the node (`connect-src`).
 */
export class MoneroNode {
  readonly #settings: RpcSettings;

  /**
   * @param url - the node's address, such as `http://127.0.0.1:18081`. Nothing is sent yet.
   * @throws {@link RandomXError} `invalid-argument`.
   */
  constructor(url: string | URL, options: MoneroNodeOptions = {}) {
    this.#settings = {
      endpoint: endpoint(url),
      ...validate.fields("options", options, {
        timeout: (name, value = 30_000) => validate.count(name, value, MAX_TIMEOUT),
        retries: (name, value = 2) => (value === 0 ? 0 : validate.count(name, value, MAX_RETRIES)),
        maxBytes: (name, value = 8 * MIB) => validate.count(name, value, 1024 * MIB),
        fetch: fetcher,
      }),
    };
  }

  /** Returns the node's claims about itself. */
  async getInfo(options: NodeCallOptions = {}): Promise<NodeInfo> {
    return answers.info(await this.#call("get_info", {}, options));
  }

  /** Returns the header of the block at a height of the node's chain. */
  async getBlockHeaderByHeight(height: number, options: NodeCallOptions = {}): Promise<NodeHeader> {
    const requested = { height: validate.height("height", height) };
    const method = "get_block_header_by_height";
    return answers.header(method, await this.#call(method, requested, options), requested);
  }

  /** Returns the headers of the blocks from `first` to `last`, at most 1000. */
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
   * Returns a block with its blob.
   *
   * @param block - its height, or its id.
   */
  async getBlock(block: number | Bytes, options: NodeCallOptions = {}): Promise<NodeBlock> {
    if (typeof block === "number") {
      const requested = { height: validate.height("block", block) };
      return answers.block(await this.#call("get_block", requested, options), requested);
    }
    const id = hex(validate.hash("block", block));
    return answers.block(await this.#call("get_block", { hash: id }, options), { id });
  }

  /** Yields the blocks from `first` to `last`, in order. It requests some in advance. */
  async *getBlocks(
    first: number,
    last: number,
    options: NodeBlocksOptions = {},
  ): AsyncGenerator<NodeBlock, void, undefined> {
    validate.height("first", first);
    validate.height("last", last);
    if (last < first) throw invalidArgument("last", `expected at least ${first}, got ${last}`);
    const { ahead, signal } = validate.fields("options", options, {
      ahead: (name, value = 8) => validate.count(name, value, MAX_AHEAD),
      signal: validate.signal,
    });
    // Leaving the loop aborts the requests too.
    const stop = new AbortController();
    const onAbort = (): void => {
      stop.abort(signal?.reason);
    };
    if (signal?.aborted) onAbort();
    signal?.addEventListener("abort", onAbort);
    const pending: Promise<NodeBlock>[] = [];
    try {
      for (let height = first, next = first; height <= last; height += 1) {
        for (; next <= last && pending.length < ahead; next += 1) {
          const block = this.getBlock(next, { signal: stop.signal });
          // It is awaited later, and must not count as unhandled until then.
          block.catch(() => undefined);
          pending.push(block);
        }
        const block = pending.shift();
        if (block) yield await block;
      }
    } finally {
      signal?.removeEventListener("abort", onAbort);
      stop.abort();
    }
  }

  /**
   * Returns the node's claims about its chain up to a block, as a checkpoint for `verifyChain`.
   *
   * Nothing in it is verified: a chain that starts from it is as trustworthy as this node is now.
   * Store the checkpoint of the verified chain, and start from that the next time.
   */
  async getCheckpoint(height: number, options: NodeCallOptions = {}): Promise<ChainCheckpoint> {
    validate.height("height", height);
    const first = Math.max(0, height + 1 - RECENT);
    const newest = height - (height % SEED_EPOCH);
    // The key of the next block is one of the two newest.
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
    const { signal } = validate.fields("options", options, { signal: validate.signal });
    return call(this.#settings, method, params, signal);
  }
}

/** Returns the address of a node's JSON-RPC endpoint. */
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
    throw invalidArgument("url", "expected no login in the address: see options.fetch");
  }
  address.search = "";
  address.hash = "";
  address.pathname = `${address.pathname.replace(/\/(?:json_rpc)?$/u, "")}/json_rpc`;
  return address;
}

function fetcher(name: string, given: unknown): typeof globalThis.fetch {
  if (given === undefined) return globalThis.fetch.bind(globalThis);
  if (typeof given === "function") return given as typeof globalThis.fetch;
  throw invalidArgument(name, `expected a function, got ${typeof given}`);
}
