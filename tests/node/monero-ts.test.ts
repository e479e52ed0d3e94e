/** `randomx-web/monero-ts` before simulated nodes, with the parts of `monero-ts` that it replaces. */
import { hexToBytes } from "@noble/hashes/utils.js";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { ChainFollower, RandomX as Product } from "../../wasm/js/index.js";
import { MemoryStore } from "../../wasm/js/index.js";
import { checkMoneroTs, type MoneroTs, type MoneroTsRequest } from "../../wasm/js/monero-ts.js";
import { chainOf, extended, type SimulatedBlock } from "./chain/blocks.js";
import { SimulatedSource, type Fault } from "./chain/source.js";
import { collect, untilSynced } from "./chain/support.js";
import { RandomX, eventually } from "./support.js";

const COUNT = 20;
const NOT_FOLLOWED = "the chain is not followed";

const store = new MemoryStore();
let randomx: Product;
let chain: ChainFollower;
/** The source that the chain follows, and the node that `monero-ts` asks. */
let source: SimulatedSource;
let node: SimulatedSource;
let blocks: readonly SimulatedBlock[];
let library: MoneroTs;
let unverified: string[];

beforeAll(async () => {
  randomx = await RandomX.create({ threads: 2 });
  blocks = chainOf(COUNT);
  [source, node] = await Promise.all([
    SimulatedSource.start(blocks),
    SimulatedSource.start(blocks),
  ]);
  chain = randomx.follow([{ node: source.url }], { network: "regtest", poll: 1, store });
  await untilSynced(chain);
}, 600_000);

beforeEach(() => {
  node.fault = undefined;
  unverified = [];
  library = unchecked();
  checkMoneroTs(library, chain, { onUnverified: (method) => unverified.push(method) });
});

afterAll(async () => {
  await chain.close();
  randomx.dispose();
  await Promise.all([source.stop(), node.stop()]);
});

/** Returns the library as it is without checks. */
function unchecked(): MoneroTs {
  return {
    HttpClient: { request: send },
    LibraryUtils: { invokeWorker: (_, method) => Promise.resolve(method) },
  };
}

async function send({ uri, body, proxyToWorker }: MoneroTsRequest) {
  expect(proxyToWorker).toBe(false);
  const response = await fetch(uri, { method: "POST", body: body as string });
  return { statusCode: response.status, statusText: "", headers: {}, body: await response.text() };
}

/** Calls a method of the node as `monero-ts` does in a browser. */
async function call(method: string, params: unknown = {}): Promise<Record<string, unknown>> {
  const body = JSON.stringify({ id: "0", jsonrpc: "2.0", method, params });
  const uri = `${node.url}/json_rpc`;
  const answer = await library.HttpClient.request({ uri, body, proxyToWorker: true });
  expect(answer.statusCode).toBe(200);
  return (JSON.parse(answer.body as string) as { result: Record<string, unknown> }).result;
}

/** Sends a result with changes in place of the node's own. */
function lie(method: string, result: object): Fault {
  return ({ name }, response) => {
    if (name !== method) return false;
    response.end(JSON.stringify({ jsonrpc: "2.0", id: "0", result: { status: "OK", ...result } }));
    return true;
  };
}

/** Requests transactions. If a result is given, the node sends that. */
async function transactions(
  ids: (string | undefined)[],
  result?: object,
): Promise<Record<string, unknown>> {
  if (result) {
    node.fault = (_, response) => {
      response.end(JSON.stringify({ status: "OK", ...result }));
      return true;
    };
  }
  const uri = `${node.url}/get_transactions`;
  const body = JSON.stringify({ txs_hashes: ids });
  const answer = await library.HttpClient.request({ uri, body });
  return JSON.parse(answer.body as string) as Record<string, unknown>;
}

/** Returns a block's only transaction. The header has 43 bytes, and the last byte counts the other transactions. */
function wholeOf(made: SimulatedBlock | undefined): string {
  return Buffer.from(made?.block.subarray(43, -1) ?? []).toString("hex");
}

function blockAt(height: number): SimulatedBlock {
  const block = blocks[height];
  if (!block) throw new Error(`there is no block ${height}`);
  return block;
}

test("heights, ids and headers come from the chain, whatever the node says", async () => {
  node.fault = (asked, response) =>
    lie("get_info", { height: 5, top_block_hash: "11".repeat(32), wide_difficulty: "0xff" })(
      asked,
      response,
    );
  const tip = blockAt(COUNT);
  expect(await call("get_block_count")).toMatchObject({ status: "OK", count: COUNT + 1 });
  expect(await call("get_info")).toMatchObject({
    ...{ height: COUNT + 1, top_block_hash: tip.id, wide_difficulty: "0x1", untrusted: true },
    wide_cumulative_difficulty: `0x${(COUNT + 1).toString(16)}`,
  });
  expect(await call("on_get_block_hash", [7])).toBe(blockAt(7).id);
  const { block_header: last } = await call("get_last_block_header");
  expect(last).toMatchObject({ height: COUNT, hash: tip.id, timestamp: tip.timestamp, depth: 0 });
  const range = { start_height: 3, end_height: 9 };
  const { headers } = await call("get_block_headers_range", range);
  expect((headers as { hash: string }[]).map(({ hash }) => hash)).toEqual(
    blocks.slice(3, 10).map(({ id }) => id),
  );
  const [first] = headers as object[];
  expect(first).toMatchObject({ prev_hash: blockAt(2).id, major_version: 16, num_txes: 0 });
  // Its other fields are what the node says.
  expect(unverified).toEqual(["get_info"]);
  expect(node.asked.every(({ name }) => name === "get_info")).toBe(true);
});

test("a block is the chain's, or an error", async () => {
  const { id, block, minerTransaction } = blockAt(8);
  expect(await call("get_block", { height: 8 })).toMatchObject({
    blob: Buffer.from(block).toString("hex"),
    block_header: { height: 8, hash: id },
    miner_tx_hash: minerTransaction,
    tx_hashes: [],
  });
  const altered = Buffer.from(block);
  altered.writeUInt8(altered.readUInt8(39) ^ 1, 39);
  for (const blob of [
    altered.toString("hex"),
    Buffer.from(blockAt(9).block).toString("hex"),
    "00",
  ]) {
    node.fault = lie("get_block", { blob, json: "{}" });
    await expect(call("get_block", { height: 8 })).rejects.toThrow(
      "another block than the chain's",
    );
    await expect(call("get_block", { hash: id })).rejects.toThrow("another block than the chain's");
  }
  // Nodes know an id in either case.
  node.fault = lie("get_block", { blob: Buffer.from(block).toString("hex") });
  expect(await call("get_block", { hash: id.toUpperCase() })).toMatchObject({ tx_hashes: [] });
  node.fault = lie("get_block_header_by_hash", { block_header: { height: 8 } });
  expect(await call("get_block_header_by_hash", { hash: id.toUpperCase() })).toMatchObject({
    block_header: { height: 8, hash: id },
  });
  node.fault = lie("get_block_header_by_hash", { block_header: { height: 9, hash: id } });
  await expect(call("get_block_header_by_hash", { hash: id })).rejects.toThrow("not on the chain");
  for (const height of [0, COUNT + 1, -1, "x", undefined]) {
    await expect(call("get_block_header_by_height", { height })).rejects.toThrow();
  }
});

test("transactions that are not the requested ones are errors", async () => {
  const absent = "22".repeat(32);
  expect(await transactions([absent])).toMatchObject({ txs: [], missed_tx: [absent] });
  // The simulated node has no bytes for it.
  const unknown = transactions([blockAt(4).minerTransaction]);
  await expect(unknown).rejects.toThrow("another transaction");
  await expect(transactions([absent], {})).rejects.toThrow("1 are missing");
});

test("an id may be repeated, and written in either case", async () => {
  const { minerTransaction: id } = blockAt(4);
  const as_hex = wholeOf(blockAt(4));
  const found = { tx_hash: id, block_height: 4 };
  for (const ids of [
    [id, id],
    [id.toUpperCase(), id],
  ]) {
    const answer = await transactions(ids, { txs: [{ as_hex }, { as_hex }] });
    expect(answer).toMatchObject({ untrusted: false, txs: [found, found], missed_tx: [] });
  }
  const copies = transactions([id], { txs: [{ as_hex }, { as_hex }] });
  await expect(copies).rejects.toThrow("another transaction");
  const absent = "ab".repeat(32);
  const ids = [absent.toUpperCase(), absent, id];
  const answer = await transactions(ids, { txs: [{ as_hex }], missed_tx: [absent, absent] });
  expect(answer).toMatchObject({ txs: [found], missed_tx: [absent] });
  // A transaction that is missing is not sent.
  await expect(transactions([id], { txs: [{ as_hex }], missed_tx: [id] })).rejects.toThrow(
    "another transaction",
  );
  await expect(transactions([id, absent], { txs: [{ as_hex }, { as_hex }] })).rejects.toThrow(
    "1 are missing",
  );
});

test("a node cannot hide that a transaction is in a block", async () => {
  const later = chainOf(COUNT + 1).at(-1);
  const pending = { in_pool: true, double_spend_seen: true };
  const { minerTransaction, timestamp } = blockAt(4);
  const mined = { txs: [{ ...pending, as_hex: wholeOf(blockAt(4)) }] };
  const place = { block_height: 4, block_timestamp: timestamp, confirmations: COUNT - 3 };
  expect(await transactions([minerTransaction], mined)).toEqual({
    ...{ status: "OK", untrusted: false, missed_tx: [] },
    txs: [{ ...place, tx_hash: minerTransaction, as_hex: wholeOf(blockAt(4)), in_pool: false }],
  });
  await expect(transactions([minerTransaction], { missed_tx: [minerTransaction] })).rejects.toThrow(
    "the node lacks it, and block 4 has it",
  );
  expect(unverified).toEqual([]);

  // Whether a transaction that no block has is pending, nothing proves, and less so a double spend.
  const id = later?.minerTransaction;
  const claim = { txs: [{ ...pending, as_hex: wholeOf(later) }] };
  expect(await transactions([id], claim)).toEqual({
    ...{ status: "OK", untrusted: true, missed_tx: [] },
    txs: [{ tx_hash: id, as_hex: wholeOf(later), in_pool: true }],
  });
  expect(unverified).toEqual(["get_transactions"]);
  // Ids that were not requested are dropped.
  const missed = await transactions([id], { missed_tx: [id, "33".repeat(32)] });
  expect(missed).toEqual({ status: "OK", untrusted: true, txs: [], missed_tx: [id] });
  expect(unverified).toEqual(["get_transactions", "get_transactions"]);
});

test("a block that another chain replaces after a search is not a transaction's place", async () => {
  const { minerTransaction: id, timestamp } = blockAt(4);
  let finds = 0;
  const find = async (id: string): ReturnType<ChainFollower["find"]> => {
    const found = await chain.find(id);
    return (finds += 1) === 1 && found ? { ...found, height: 5, blockId: "11".repeat(32) } : found;
  };
  const replaced = new Proxy(chain, {
    get: (target, name) => {
      const value: unknown = name === "find" ? find : Reflect.get(target, name, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
  library = unchecked();
  checkMoneroTs(library, replaced);
  const answer = await transactions([id], { txs: [{ as_hex: wholeOf(blockAt(4)) }] });
  const place = { block_height: 4, block_timestamp: timestamp };
  expect(answer).toMatchObject({ txs: [{ tx_hash: id, ...place }] });
  expect(finds).toBe(2);
});

test("a transaction is not pending after the last source was lost", async () => {
  const [silent, later] = [await SimulatedSource.start(blocks), chainOf(COUNT + 1).at(-1)];
  const other = randomx.follow([{ node: silent.url }], { network: "regtest", poll: 1 });
  await untilSynced(other);
  checkMoneroTs(library, other);
  let answer = (): void => undefined;
  silent.fault = ({ name }, response) => {
    if (name !== "get_transactions") return false;
    answer = () => void response.writeHead(404).end();
    return true;
  };
  const pending = { txs: [{ in_pool: true, as_hex: wholeOf(later) }] };
  const asked = expect(transactions([later?.minerTransaction], pending));
  const refused = asked.rejects.toThrow(NOT_FOLLOWED);
  await eventually(() => {
    expect(silent.count("get_transactions")).toBe(1);
  });
  silent.chain = extended(blocks, 1, {
    alter: (block) => Uint8Array.from(block, (byte, index) => (index < 2 ? 17 : byte)),
  });
  await collect(other, ({ type }) => type === "update-needed");
  answer();
  await refused;
  await other.close();
  await silent.stop();
});

test("the miner's transaction is whole without signatures", async () => {
  const { minerTransaction } = blockAt(4);
  const whole = hexToBytes(wholeOf(blockAt(4)));
  expect(await chain.transactionIds([whole, whole.subarray(0, -1)])).toEqual([
    minerTransaction,
    undefined,
  ]);
});

test("answers with many blocks are refused, and others are named", async () => {
  for (const path of [
    "getblocks.bin",
    "get_blocks.bin",
    "get_blocks_by_height.bin",
    "gethashes.bin",
  ]) {
    const answer = await library.HttpClient.request({
      uri: `${node.url}/${path}`,
      body: new Uint8Array(),
      proxyToWorker: false,
    });
    expect([answer.statusCode, answer.body]).toEqual([404, ""]);
  }
  node.fault = lie("get_fee_estimate", { fee: 7 });
  expect(await call("get_fee_estimate")).toMatchObject({ fee: 7 });
  node.fault = lie("constructor", {});
  await call("constructor");
  expect(unverified).toEqual(["get_fee_estimate", "constructor"]);
});

test("nothing connects from the worker", async () => {
  const { LibraryUtils } = library;
  for (const [method, args] of [
    ["connectDaemonRpc", [{}]],
    ["setDaemonConnection", [{ uri: node.url }, true]],
    ["createWalletFull", [{ server: { uri: node.url } }]],
    ["openWalletData", ["", "", 0, "", "", { uri: node.url }]],
  ] as const) {
    await expect(LibraryUtils.invokeWorker("", method, [...args])).rejects.toThrow("proxyToWorker");
  }
  for (const [method, args] of [
    ["setDaemonConnection", [undefined, true]],
    ["createWalletFull", [{ seed: "words" }]],
    ["openWalletData", ["", "", 0, "", "", undefined]],
    ["moneroUtilsValidateAddress", []],
  ] as const) {
    expect(await LibraryUtils.invokeWorker("", method, [...args])).toBe(method);
  }
});

test("what was replaced can be put back, and a closed chain answers nothing", async () => {
  const { request } = library.HttpClient;
  const other = randomx.follow([{ node: source.url }], { network: "regtest", poll: 1 });
  const onUnverified = (method: string): number => unverified.push(`other ${method}`);
  const restore = checkMoneroTs(library, other, { onUnverified });
  // Nothing was followed yet.
  await expect(call("get_block_count")).rejects.toThrow(NOT_FOLLOWED);
  await untilSynced(other);
  expect(await call("get_block_count")).toMatchObject({ count: COUNT + 1 });
  node.fault = (...asked) => {
    void other.close().then(() => lie("get_info", {})(...asked));
    return true;
  };
  await expect(call("get_info")).rejects.toThrow(NOT_FOLLOWED);
  expect(unverified).toEqual(["get_info"]);
  await expect(call("get_block_count")).rejects.toThrow(NOT_FOLLOWED);
  await expect(call("get_block_header_by_height", { height: 3 })).rejects.toThrow(NOT_FOLLOWED);
  restore();
  expect(library.HttpClient.request).toBe(request);
});

test.each(["before", "after"])(
  "an older check that ends %s a newer begins leaves it",
  async (when) => {
    library = unchecked();
    node.fault = lie("get_info", { height: 5 });
    const old = randomx.follow([{ node: source.url }], { network: "regtest" });
    await old.close();
    const endOld = checkMoneroTs(library, old);
    if (when === "before") endOld();
    const endNew = checkMoneroTs(library, chain);
    endOld();
    expect(await call("get_info")).toMatchObject({ height: COUNT + 1 });
    const connect = (): Promise<unknown> =>
      library.LibraryUtils.invokeWorker("", "connectDaemonRpc", []);
    await expect(connect()).rejects.toThrow("proxyToWorker");
    endNew();
    const body = JSON.stringify({ method: "get_info" });
    const request = { uri: `${node.url}/json_rpc`, body, proxyToWorker: false };
    const answer = await library.HttpClient.request(request);
    expect(JSON.parse(answer.body as string)).toMatchObject({ result: { height: 5 } });
    expect(await connect()).toBe("connectDaemonRpc");
  },
);

test("a stored state answers nothing before it is known to be the newest", async () => {
  const silent = await SimulatedSource.start(blocks);
  silent.fault = () => true;
  const sources = [{ node: source.url }, { relay: silent.url }];
  const later = randomx.follow(sources, { network: "regtest", poll: 1, store });
  const events = await collect(
    later,
    ({ type }) => type === "source" && later.sources[0]?.state === "following",
  );
  expect(events.map(({ type }) => type)).not.toContain("synced");
  checkMoneroTs(library, later);
  const body = JSON.stringify({ txs_hashes: [] });
  for (const asked of [
    call("get_block_count"),
    call("on_get_block_hash", [7]),
    library.HttpClient.request({ uri: `${node.url}/get_transactions`, body }),
  ]) {
    await expect(asked).rejects.toThrow(NOT_FOLLOWED);
  }
  await later.close();
  await silent.stop();
});
