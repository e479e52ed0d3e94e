/**
 * Checks what the library `monero-ts` receives from its node: see {@link checkMoneroTs}.
 *
 * @packageDocumentation
 */
import type { ChainFollower } from "./chain/follower.js";
import type { ChainHeader, ChainTip } from "./chain/types.js";
import { escaped } from "./errors.js";

/** A request of `monero-ts`, as its `HttpClient` takes it. */
export interface MoneroTsRequest {
  uri: string;
  body?: string | object | undefined;
  proxyToWorker?: boolean | undefined;
}

/** An answer, as its `HttpClient` returns it. */
export interface MoneroTsResponse {
  statusCode: number;
  statusText: string;
  headers: object;
  body: string | object;
}

/** The parts of `monero-ts` that are replaced. */
export interface MoneroTs {
  HttpClient: { request: (request: MoneroTsRequest) => Promise<MoneroTsResponse> };
  LibraryUtils: {
    invokeWorker: (objectId: string, method: string, args?: unknown[]) => Promise<unknown>;
  };
}

/** The options of {@link checkMoneroTs}. */
export interface CheckOptions {
  /**
   * Receives the name of each method whose answer was passed on although nothing can verify it. Of
   * `get_transactions` these are the answers with a transaction that is in none of the kept blocks. Of `get_info`
   * only the height, the tip and its difficulty are verified.
   */
  onUnverified?: (method: string) => void;
}

type Json = Record<string, unknown>;

/** Calls the method of the node, with other parameters if they are given, and returns its result. */
type Forward = (params?: Json) => Promise<Json>;

/** Answers a method with what the chain proves. Calls `unverified` if a part is what the node says. */
type Checked = (
  chain: ChainFollower,
  params: Json,
  forward: Forward,
  unverified: () => void,
) => Promise<unknown>;

/** The most headers in an answer, as restricted nodes send. */
const MAX_HEADERS = 1000;

/** The longest message that quotes a node. */
const MAX_MESSAGE = 200;

/** Binary methods that carry blocks or their ids. */
const BLOCKS = /^(?:get_?blocks|get_?blocks_by_height|get_?hashes)\.bin$/u;

/** The answer to these. With this status, the connection check of `monero-ts` passes nonetheless. */
const NOT_VERIFIED: MoneroTsResponse = {
  statusCode: 404,
  statusText: "not verified; a wallet that scans needs randomx guard",
  headers: {},
  body: "",
};

/** Methods of JSON-RPC whose answers are checked. */
const JSON_RPC: Readonly<Record<string, Checked>> = {
  get_block_count: (chain) => Promise.resolve({ count: tipOf(chain).height + 1 }),
  on_get_block_hash: async (chain, params) => (await header(chain, params[0])).id,
  get_info: async (chain, _, forward, unverified) => {
    const info = await forward();
    const tip = await header(chain, tipOf(chain).height);
    const height = tip.height + 1;
    unverified();
    return {
      ...info,
      ...{ height, height_without_bootstrap: height, target_height: 0, top_block_hash: tip.id },
      ...wide("difficulty", tip.difficulty),
      ...wide("cumulative_difficulty", tip.work),
    };
  },
  get_last_block_header: async (chain) => ({
    block_header: described(chain, await header(chain, tipOf(chain).height)),
  }),
  get_block_header_by_height: async (chain, params) => ({
    block_header: described(chain, await header(chain, params.height)),
  }),
  get_block_header_by_hash: async (chain, params, forward) => {
    // The node says where the block is, and the chain decides.
    const { block_header: claimed } = await forward();
    const found = await header(chain, (claimed as Json | undefined)?.height);
    if (found.id !== lowerCase(params.hash))
      throw new Error(`block ${String(params.hash)} is not on the chain`);
    return { block_header: described(chain, found) };
  },
  get_block_headers_range: async (chain, params) => {
    const [first, last] = [Number(params.start_height), Number(params.end_height)];
    const headers = last - first < MAX_HEADERS ? await chain.headers(first, last) : [];
    if (headers.length === 0 || headers.length !== last - first + 1) {
      throw new Error(`blocks ${first} to ${last}: expected at most ${MAX_HEADERS} that are kept`);
    }
    return { headers: headers.map((found) => described(chain, found)) };
  },
  get_block: async (chain, params, forward) => {
    const { blob } = await forward();
    const found = await chain.prove(blob as string);
    const wanted = params.hash === undefined ? found?.height : found?.id;
    if (!found || wanted !== lowerCase(params.hash ?? params.height)) {
      throw new Error("get_block: the node sent another block than the chain's");
    }
    const [miner, ...others] = found.transactionIds;
    const block_header = { ...described(chain, found), miner_tx_hash: miner };
    return { blob, block_header, miner_tx_hash: miner, tx_hashes: others };
  },
};

/** Methods with a path of their own whose answers are checked. */
const PATHS: Readonly<Record<string, Checked>> = {
  get_height: (chain) => {
    const { height, id } = tipOf(chain);
    return Promise.resolve({ height: height + 1, hash: id });
  },
  get_transactions: async (chain, params, forward, unverified) => {
    // The hash of a pruned transaction cannot be checked.
    const answer = await forward({ ...params, prune: false, decode_as_json: false });
    const { txs = [], missed_tx: missed = [] } = answer as { txs?: Json[]; missed_tx?: string[] };
    const requested = ((params.txs_hashes ?? []) as string[]).map(lowerCase);
    // Nodes send the transaction of a repeated id as often.
    const wanted = new Set(requested);
    const absent = missed.filter((id) => wanted.delete(id));
    const left = new Set(wanted);
    const ids = await chain.transactionIds(txs.map(blobOf));
    for (const id of ids) {
      if (id === undefined || !wanted.has(id) || txs.length > requested.length) {
        throw new Error(
          "get_transactions: the node sent another transaction than the requested ones",
        );
      }
      left.delete(id);
    }
    if (left.size > 0) throw new Error(`get_transactions: ${left.size} are missing`);
    const [placed] = await Promise.all([
      Promise.all(ids.map((id, index) => transaction(chain, txs[index] ?? {}, id ?? ""))),
      Promise.all(absent.map((id) => requireNoPlace(chain, id))),
    ]);
    // A search also finds nothing when the sources no longer answer.
    tipOf(chain);
    if (absent.length > 0 || placed.some((tx) => tx.in_pool)) unverified();
    return { txs: placed, missed_tx: absent };
  },
};

/**
 * Has `monero-ts` receive what a followed chain proves, in place of what its node says: heights, the
 * tip, headers, blocks and transactions. An answer that is false, or about a block that is not kept,
 * is an error. All other answers are passed on; see the package's README for the list.
 *
 * It replaces `HttpClient.request`. Nodes are reached from this thread, since there is no such place in
 * the worker of `monero-ts`; connections from there are refused. A wallet that scans needs
 * `randomx guard`: answers with many blocks are refused too.
 *
 * @param moneroTs - the library, or its exports `HttpClient` and `LibraryUtils`.
 * @param chain - the chain, whose tip is the one that `monero-ts` sees.
 * @returns a function that ends this check, and puts back what it replaced. Checks of later calls stay.
 */
export function checkMoneroTs(
  { HttpClient, LibraryUtils }: MoneroTs,
  chain: ChainFollower,
  { onUnverified }: CheckOptions = {},
): () => void {
  const { request } = HttpClient;
  const { invokeWorker } = LibraryUtils;
  // After the end, calls that a later check wrapped still arrive here.
  let isActive = true;
  const checkedRequest: typeof request = async (given) => {
    if (!isActive) return request.call(HttpClient, given);
    const path = new URL(given.uri).pathname.split("/").at(-1) ?? "";
    const isJsonRpc = path === "json_rpc";
    const body = typeof given.body === "string" ? (JSON.parse(given.body) as Json) : {};
    const method = isJsonRpc ? String(body.method) : path;
    if (BLOCKS.test(method)) return NOT_VERIFIED;
    // The worker has an `HttpClient` of its own.
    const send = (sent: Json | undefined): Promise<MoneroTsResponse> =>
      request.call(HttpClient, {
        ...given,
        body: sent ? JSON.stringify(sent) : given.body,
        proxyToWorker: false,
      });
    const checks = isJsonRpc ? JSON_RPC : PATHS;
    const check = Object.hasOwn(checks, method) ? checks[method] : undefined;
    if (!check) {
      onUnverified?.(method);
      return send(undefined);
    }
    // Nothing is answered before the chain is followed.
    tipOf(chain);
    const params = ((isJsonRpc ? body.params : body) ?? {}) as Json;
    const forward: Forward = async (other) => {
      const answer = contentOf(await send(isJsonRpc && other ? { ...body, params: other } : other));
      return isJsonRpc ? (answer.result as Json) : answer;
    };
    let untrusted = false;
    const found = await check(chain, params, forward, () => {
      untrusted = true;
      onUnverified?.(method);
    });
    const result = typeof found === "object" ? { ...found, status: "OK", untrusted } : found;
    const answer = isJsonRpc ? { id: body.id, jsonrpc: "2.0", result } : result;
    return { statusCode: 200, statusText: "OK", headers: {}, body: JSON.stringify(answer) };
  };
  const checkedInvoke: typeof invokeWorker = (objectId, method, args = []) => {
    if (isActive && connects(method, args)) {
      const problem = "proxyToWorker: expected false; nothing is checked in the worker";
      return Promise.reject(new Error(`${method}: ${problem}`));
    }
    return invokeWorker.call(LibraryUtils, objectId, method, args);
  };
  HttpClient.request = checkedRequest;
  LibraryUtils.invokeWorker = checkedInvoke;
  return () => {
    isActive = false;
    if (HttpClient.request === checkedRequest) HttpClient.request = request;
    if (LibraryUtils.invokeWorker === checkedInvoke) LibraryUtils.invokeWorker = invokeWorker;
  };
}

/** Whether a method of the worker has it connect to a node. */
function connects(method: string, args: readonly unknown[]): boolean {
  switch (method) {
    case "connectDaemonRpc":
      return true;
    case "setDaemonConnection":
      return args[0] !== undefined;
    case "createWalletFull":
      return (args[0] as Json | undefined)?.server !== undefined;
    default:
      return method === "openWalletData" && args[5] !== undefined;
  }
}

/** Parses a node's answer. `JSON.parse` rounds numbers above 2^53, such as the `free_space` of `get_info`. */
function contentOf({ statusCode, statusText, body }: MoneroTsResponse): Json {
  if (statusCode !== 200 || typeof body !== "string")
    throw new Error(quoted(`${statusCode} ${statusText}`));
  const answer = JSON.parse(body) as Json;
  const { error, status = "OK" } = { ...answer, ...(answer.result as Json | undefined) };
  if (error !== undefined || status !== "OK") {
    throw new Error(quoted(`the node answered ${JSON.stringify(error ?? status)}`));
  }
  return answer;
}

/** Returns a message with a node's words, shortened. */
function quoted(message: string): string {
  return escaped(message.slice(0, MAX_MESSAGE));
}

/** Returns the tip while the chain is followed. A stored tip may be old, and so may one after the end. */
function tipOf({ tip, sources, isSynced }: ChainFollower): ChainTip {
  const isFollowed = sources.some(({ state }) => state === "following" || state === "behind");
  if (!tip || !isSynced || !isFollowed) throw new Error("the chain is not followed");
  return tip;
}

/** Returns the kept block at a height. */
async function header(chain: ChainFollower, height: unknown): Promise<ChainHeader> {
  const wanted = Number(height);
  const [found] = await chain.headers(wanted, wanted);
  if (!found) throw new Error(`block ${wanted}: expected one that is kept, of the last three days`);
  return found;
}

/** Describes a block as nodes do. */
function described(chain: ChainFollower, header: ChainHeader): Json {
  return {
    major_version: header.majorVersion,
    minor_version: header.minorVersion,
    timestamp: header.timestamp,
    prev_hash: header.previousId,
    nonce: header.nonce,
    orphan_status: false,
    height: header.height,
    depth: tipOf(chain).height - header.height,
    hash: header.id,
    num_txes: header.transactions - 1,
    ...wide("difficulty", header.difficulty),
    ...wide("cumulative_difficulty", header.work),
  };
}

/** Returns a number of 128 bits without the forms that cannot hold it. */
function wide(name: string, value: bigint): Json {
  const rest = { [name]: undefined, [`${name}_top64`]: undefined };
  return { ...rest, [`wide_${name}`]: `0x${value.toString(16)}` };
}

/** Returns an id as nodes and the chain write it, and anything else as it is. */
function lowerCase(id: unknown): unknown {
  return typeof id === "string" ? id.toLowerCase() : id;
}

/** Returns the hex of a transaction. */
function blobOf({ as_hex: whole, pruned_as_hex: pruned, prunable_as_hex: rest }: Json): string {
  const text = (value: unknown): string => (typeof value === "string" ? value : "");
  return text(whole) || `${text(pruned)}${text(rest)}`;
}

/**
 * Describes a transaction whose id was computed, at the place that the chain proves. It is pending if the
 * node says so and the chain knows no place.
 */
async function transaction(chain: ChainFollower, tx: Json, id: string): Promise<Json> {
  const found = await chain.find(id);
  const known = { tx_hash: id, as_hex: blobOf(tx), in_pool: !found };
  if (found) {
    const { id: block, timestamp } = await header(chain, found.height);
    // Another chain has replaced the block since it was found.
    if (block !== found.blockId) return transaction(chain, tx, id);
    const place = { block_height: found.height, block_timestamp: timestamp };
    return { ...known, ...place, confirmations: found.confirmations };
  }
  if (tx.in_pool === true) return known;
  throw new Error(`transaction ${id}: expected one in a block that is kept`);
}

/** Throws if the chain has a transaction that the node does not send. */
async function requireNoPlace(chain: ChainFollower, id: string): Promise<void> {
  const found = await chain.find(id);
  if (found)
    throw new Error(`transaction ${id}: the node lacks it, and block ${found.height} has it`);
}
