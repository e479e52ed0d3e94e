/** A client of Monero's daemon. */
import { FREE_BYTES } from "../budget.js";
import { RandomXError, aborted, invalidArgument } from "../errors.js";
import type { Bytes } from "../types.js";
import * as validate from "../validate.js";
import * as answers from "./answers.js";
import type { NodeBlock, NodeHeader, NodeInfo } from "./answers.js";
import type { ChainCheckpoint } from "./checkpoint.js";
import { hex } from "./hex.js";
import { call, type Call, type RpcSettings } from "./rpc.js";

/** Options of {@link MoneroNode}. */
export interface MoneroNodeOptions {
  /** Milliseconds that an attempt may take from the request to the last byte. 30,000 by default. */
  timeout?: number | undefined;
  /** Attempts after a lost connection, a timeout or a busy node, 0 to 10. 2 by default. */
  retries?: number | undefined;
  /**
   * The limit for an answer in bytes. 2 MiB by default: a block with 10,000 transactions, or 1,000 headers. A
   * checkpoint needs 735 headers, some 1.1 MB.
   */
  maxBytes?: number | undefined;
  /**
   * Sends the requests, for instance through Tor or with a login. `globalThis.fetch` by default. Its answers need a
   * `ReadableStream` as their body, which those of the package node-fetch have not.
   */
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

/** Blocks that are requested in advance before the first has arrived. */
const FIRST_AHEAD = 4;

const MIB = 1 << 20;

/** The longest answer about one header or the node itself. */
const SMALL = 16 << 10;

/** The limits of such an answer. */
const ONE = { limit: SMALL, longest: SMALL };

/** The bytes of each further header of an answer; the daemon writes some 1,500. */
const HEADER = 2 << 10;

/** The most hex digits of a transaction, which has at most 150 KB. */
const DIGITS = 320 << 10;

/** The longest answer about a transaction: the daemon writes it twice. */
const TRANSACTION = 2 * DIGITS + SMALL;

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
        maxBytes: (name, value = 2 * MIB) => validate.count(name, value, 1024 * MIB),
        fetch: (name, value) => validate.fetcher(name, value) ?? globalThis.fetch.bind(globalThis),
      }),
    };
  }

  /** Returns the node's claims about itself. */
  async getInfo(options: NodeCallOptions = {}): Promise<NodeInfo> {
    const asked = { method: "get_info", params: {}, wanted: answers.WANTED.info, ...ONE };
    return answers.info(await this.#call(asked, options));
  }

  /** Returns the header of the block at a height of the node's chain. */
  async getBlockHeaderByHeight(height: number, options: NodeCallOptions = {}): Promise<NodeHeader> {
    const requested = { height: validate.height("height", height) };
    const method = "get_block_header_by_height";
    const asked = { method, params: requested, wanted: answers.WANTED.header, ...ONE };
    return answers.header(method, await this.#call(asked, options), requested);
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
    const asked = {
      method: "get_block_headers_range",
      params: range,
      wanted: answers.WANTED.headers,
      limit: SMALL + HEADER * (last - first + 1),
      longest: SMALL,
    };
    return answers.headers(await this.#call(asked, options), first, last);
  }

  /**
   * Returns a block with its blob.
   *
   * @param block - its height, or its id.
   */
  async getBlock(block: number | Bytes, options: NodeCallOptions = {}): Promise<NodeBlock> {
    const requested =
      typeof block === "number"
        ? { height: validate.height("block", block) }
        : { id: hex(validate.hash("block", block)) };
    return this.#block(requested, this.#settings.maxBytes, options);
  }

  /**
   * Returns the height of a transaction's block, as the node says, or `undefined` if the node knows no
   * such transaction in a block.
   */
  async getTransactionHeight(
    id: Bytes,
    options: NodeCallOptions = {},
  ): Promise<number | undefined> {
    const hash = hex(validate.hash("id", id));
    const params = { txs_hashes: [hash], prune: true, decode_as_json: false };
    const wanted = answers.WANTED.transactions;
    const limits = { limit: TRANSACTION, longest: DIGITS };
    const asked = { method: "/get_transactions", params, wanted, ...limits };
    return answers.transactionHeight(await this.#call(asked, options), hash);
  }

  /**
   * Yields the blocks from `first` to `last`, in order, or to the end of the node's chain. It yields
   * none if `last` is before `first`. It requests some in advance.
   */
  async *getBlocks(
    first: number,
    last: number,
    options: NodeBlocksOptions = {},
  ): AsyncGenerator<NodeBlock, void, undefined> {
    validate.height("first", first);
    validate.height("last", last);
    const { ahead, signal } = validate.fields("options", options, {
      ahead: (name, value = 8) => validate.count(name, value, MAX_AHEAD),
      signal: validate.signal,
    });
    if (signal?.aborted) throw aborted(signal);
    // One for each request: Node warns of a signal with many listeners.
    const pending: { block: Promise<NodeBlock>; stop: AbortController }[] = [];
    const stopAll = (): void => {
      for (const { stop } of pending) stop.abort(signal?.reason);
    };
    signal?.addEventListener("abort", stopAll);
    // A node that answers well is asked for more and more at once.
    let most = Math.min(ahead, FIRST_AHEAD);
    try {
      for (let height = first, next = first; height <= last; height += 1) {
        for (; next <= last && pending.length < most; next += 1) {
          const stop = new AbortController();
          const options = { signal: stop.signal };
          const block = this.#block({ height: next }, FREE_BYTES, options);
          // It is awaited later, and must not count as unhandled until then.
          block.catch(() => undefined);
          pending.push({ block, stop });
        }
        const [head] = pending;
        const options = { signal: head?.stop.signal };
        const block = head && (await this.#blockIn(head.block, height, options));
        // The node's chain ends here.
        if (!block) return;
        yield block;
        if (signal?.aborted) throw aborted(signal);
        pending.shift();
        most = Math.min(ahead, most + 1);
      }
    } finally {
      signal?.removeEventListener("abort", stopAll);
      stopAll();
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

  /**
   * Returns a block that was requested in advance, or `undefined` if the node's chain ends before it. A
   * block that was too long for that, or that the node may have received since, is requested again.
   */
  async #blockIn(
    block: Promise<NodeBlock>,
    height: number,
    options: NodeCallOptions,
  ): Promise<NodeBlock | undefined> {
    try {
      return await block;
    } catch (error) {
      const code = error instanceof RandomXError ? error.code : undefined;
      const isRefused = code === "node-refused";
      if (isRefused && (await this.getInfo(options)).height <= height) return undefined;
      if (isRefused || code === "node-too-large") return this.getBlock(height, options);
      throw error;
    }
  }

  async #block(
    requested: { height: number } | { id: string },
    limit: number,
    options: NodeCallOptions,
  ): Promise<NodeBlock> {
    const params = "id" in requested ? { hash: requested.id } : requested;
    // The daemon writes the block as text, too.
    const limits = { limit, longest: limit };
    const asked = { method: "get_block", params, wanted: answers.WANTED.block, ...limits };
    return answers.block(await this.#call(asked, options), requested);
  }

  async #call(asked: Call, options: NodeCallOptions): Promise<Record<string, unknown>> {
    const { signal } = validate.fields("options", options, { signal: validate.signal });
    return call(this.#settings, asked, signal);
  }
}

/** Returns the address of a node's JSON-RPC endpoint. */
function endpoint(url: unknown): URL {
  const address = validate.server("url", url);
  address.pathname = `${address.pathname.replace(/\/(?:json_rpc)?$/u, "")}/json_rpc`;
  return address;
}
