/** `RandomX.follow` with sources that lie, stall or change their minds, and its search for transactions. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as product from "../../../wasm/js/index.js";
import { AnyRandomX as RandomX, eventually, fullTest } from "../support.js";
import { chainOf, child, extended, withNonce, type SimulatedBlock } from "./blocks.js";
import { SimulatedSources, type SimulatedSource } from "./source.js";
import { collect, eventOf, untilSynced, untilTip } from "./support.js";

const OPTIONS = { network: "regtest", poll: 1 } as const;
const common = chainOf(10);

let randomx: product.RandomX;
const sources = new SimulatedSources();

beforeAll(async () => {
  randomx = await RandomX.create({ threads: 2 });
  await randomx.prepare(product.MAINNET_GENESIS.id);
});

afterAll(async () => {
  randomx.dispose();
  await sources.stop();
});

describe.concurrent("find", () => {
  test("proves where a transaction is", async () => {
    const node = await sources.start(extended(common, 20));
    const chain = randomx.follow([{ relay: node.url }, { node: node.url }], OPTIONS);
    await untilSynced(chain);
    const block = node.chain[12];
    expect(await chain.find(block?.minerTransaction ?? "")).toEqual({
      height: 12,
      blockId: block?.id,
      confirmations: 19,
    });
    expect(await chain.find("00".repeat(32))).toBeUndefined();
    await expect(chain.find("00")).rejects.toMatchObject({ code: "invalid-argument" });
    const signal = AbortSignal.abort();
    await expect(chain.find("00".repeat(32), { signal })).rejects.toMatchObject({
      code: "aborted",
    });
    await chain.close();
    await expect(chain.find("00".repeat(32))).rejects.toMatchObject({ code: "disposed" });
  });

  test("rejects when the chain is closed", async () => {
    const node = await sources.start(common);
    const chain = randomx.follow([{ node: node.url }], OPTIONS);
    await untilSynced(chain);
    node.fault = ({ name }) => name === "get_transactions";
    const found = expect(chain.find("00".repeat(32))).rejects.toMatchObject({ code: "disposed" });
    await eventually(() => {
      expect(node.count("get_transactions")).toBe(1);
    });
    await chain.close();
    await found;
  });

  test("waits until a stored chain is loaded, as other questions do", async () => {
    const node = await sources.start(extended(common, 20));
    const store = new product.MemoryStore();
    const before = randomx.follow([{ node: node.url }], { ...OPTIONS, store });
    await untilSynced(before);
    await before.close();
    const chain = randomx.follow([{ node: node.url }], { ...OPTIONS, store });
    const [found, [header], ids] = await Promise.all([
      chain.find(node.chain[12]?.minerTransaction ?? ""),
      chain.headers(12, 12),
      chain.transactionIds([]),
    ]);
    expect([found?.height, header?.height, ids]).toEqual([12, 12, []]);
    await chain.close();
    await expect(chain.headers(12, 12)).rejects.toMatchObject({ code: "disposed" });
  });

  test("neither delays the chain nor waits long if a node does not answer", async () => {
    const node = await sources.start(common);
    const silent = await sources.start(common);
    silent.fault = ({ name }) => name === "get_transactions";
    const chain = randomx.follow([{ node: silent.url }, { node: node.url }], {
      ...OPTIONS,
      timeout: 10_000,
    });
    await untilSynced(chain);
    const block = common[5];
    const start = performance.now();
    const txids = Array<string>(100).fill(block?.minerTransaction ?? "");
    const searches = Promise.allSettled(txids.map((txid) => chain.find(txid)));
    await eventually(() => {
      expect(silent.count("get_transactions")).toBeGreaterThan(0);
    });
    node.chain = extended(common, 1);
    await untilTip(chain, node.tip.id);
    expect(performance.now() - start).toBeLessThan(10_000);
    const found = await searches;
    expect(found).toHaveLength(100);
    for (const { value } of found as PromiseFulfilledResult<product.FoundTransaction>[]) {
      expect(value).toMatchObject({ height: 5, blockId: block?.id });
    }
    // The first searches wait for the silent node, and the others begin with the other one.
    expect(performance.now() - start).toBeLessThan(20_000);
    await chain.close();
  });

  test.each<[string, (node: SimulatedSource) => void]>([
    [
      "another place",
      (node) => {
        node.fault = ({ name, params }, response) => {
          if (name !== "get_transactions") return false;
          const [tx_hash] = params.txs_hashes as string[];
          const tx = { tx_hash, block_height: 14, in_pool: false };
          response.end(JSON.stringify({ status: "OK", txs: [tx] }));
          return true;
        };
      },
    ],
    [
      "another block",
      (node) => {
        // The block has the transaction, and another nonce than the chain's.
        const { chain } = node;
        node.chain = chain.map((block) => (block.height === 12 ? withNonce(block, 99) : block));
      },
    ],
  ])("refuses a node's lie about %s", async (_, lie) => {
    const honest = await sources.start(extended(common, 20));
    const liar = await sources.start(honest.chain);
    const txid = honest.chain[12]?.minerTransaction ?? "";
    const alone = randomx.follow([{ relay: honest.url }, { node: liar.url }], {
      ...OPTIONS,
      poll: 3600,
    });
    await untilSynced(alone);
    lie(liar);
    expect(await alone.find(txid)).toBeUndefined();
    await alone.close();
  });
});

test.concurrent(
  "a block is proven if the chain has it, and no other block of its height",
  async () => {
    const source = await sources.start(extended(common, 5));
    const chain = randomx.follow([{ relay: source.url }], OPTIONS);
    await untilSynced(chain);
    const [block = source.tip] = source.chain.slice(12);
    const { height, id, minerTransaction } = block;
    expect(await chain.prove(block.block)).toMatchObject({
      ...{ height, id },
      transactionIds: [minerTransaction],
    });
    for (const other of [withNonce(block, 99), child(source.tip)]) {
      expect(await chain.prove(other.block)).toBeUndefined();
    }
    expect(await chain.prove(Uint8Array.of(16, 16))).toBeUndefined();
    expect((await chain.headers(11, 13)).map(({ height }) => height)).toEqual([11, 12, 13]);
    await chain.close();
  },
);

describe.concurrent("a source that", () => {
  test("has a block without its proof of work is invalid, with evidence", async () => {
    const difficulty = 2n;
    const honest = await mined(8, difficulty, true);
    const forged = [...honest.slice(0, 6), ...(await mined(3, difficulty, false, honest[5]))];
    const [a, b] = [await sources.start(honest.slice(0, 8)), await sources.start(forged)];
    a.difficulty = b.difficulty = difficulty;
    const { count } = randomx.stats().caches;
    const chain = randomx.follow([{ relay: b.url }, { relay: a.url }], {
      ...OPTIONS,
      fixedDifficulty: difficulty,
    });
    const events = await untilSynced(chain);
    await chain.close();
    const invalid = events.find(
      (event) => event.type === "source" && event.source.state === "invalid",
    ) as product.SourceEvent | undefined;
    expect(invalid).toMatchObject({ source: { index: 0, reason: expect.any(String) as string } });
    expect(invalid?.evidence?.length).toBeGreaterThan(100);
    expect(chain.tip?.id).toBe(a.tip.id);
    expect(chain.sources.map(({ state }) => state)).toEqual(["invalid", "following"]);
    // The hash that accuses was computed with another cache.
    expect(randomx.stats().caches.count).toBeGreaterThan(count);
  });

  test("has a block of an unknown version needs an update", async () => {
    const future = extended(extended(common, 3), 1, {
      alter: (block) => Uint8Array.from(block, (byte, index) => (index < 2 ? 17 : byte)),
    });
    const source = await sources.start(future);
    const chain = randomx.follow([{ relay: source.url }], OPTIONS);
    const events = await collect(chain, ({ type }) => type === "update-needed");
    await chain.close();
    expect(eventOf(events, "update-needed")).toMatchObject({
      source: { index: 0, state: "update-needed" },
      height: 14,
      version: 17,
    });
  });

  test("has a block of an unknown format needs an update", async () => {
    const known = extended(common, 3);
    const source = await sources.start(
      extended(known, 1).map((block) =>
        block.height === 14 ? { ...block, block: new Uint8Array(60).fill(17) } : block,
      ),
    );
    const chain = randomx.follow([{ node: source.url }], OPTIONS);
    const events = await collect(chain, ({ type }) => type === "update-needed");
    await chain.close();
    expect(eventOf(events, "update-needed")).toMatchObject({ height: 14, version: 17 });
  });

  test("has a block that is too early for the clock is unresponsive, and the reason says so", async () => {
    const start = Math.floor(Date.now() / 1000) + 3 * 3600 + 30;
    const source = await sources.start(extended(extended(common, 3), 1, { start }));
    const chain = randomx.follow([{ relay: source.url }], OPTIONS);
    await collect(chain, () => chain.sources[0]?.state === "unresponsive");
    expect(chain.sources[0]?.reason).toBe("its next block is 180 minutes ahead of this clock");
    await chain.close();
  });

  test("changes its chain all the time is unresponsive, not for a failure that is over", async () => {
    const source = await sources.start(common);
    const faces = [extended(common, 4, { nonce: 1 }), extended(common, 6, { nonce: 2 })];
    let turn = 0;
    source.fault = (_, response) => {
      source.chain = faces[(turn += 1) % 2] ?? common;
      return turn === 1 && Boolean(response.writeHead(503).end());
    };
    const chain = randomx.follow([{ relay: source.url }], OPTIONS);
    await collect(chain, () => chain.sources[0]?.state === "unresponsive");
    expect(chain.sources[0]?.reason).toBeUndefined();
    await chain.close();
  });

  test("gives no usable answer is unresponsive, and no other suffers", async () => {
    const good = await sources.start(extended(common, 5));
    const stalling = await sources.start(common);
    stalling.fault = () => true;
    const down = await sources.start(common);
    down.fault = (_, response) => Boolean(response.writeHead(503).end());
    const other = await sources.start(common);
    other.fault = (_, response) => Boolean(response.end("<html>"));
    const cut = await sources.start(extended(common, 9));
    cut.fault = ({ name }, response) =>
      name === "headers" && Boolean(response.end(Uint8Array.of(77, 16, 16)));
    const bad = [stalling, down, other, cut];
    const chain = randomx.follow([...bad.map(({ url }) => ({ relay: url })), { relay: good.url }], {
      ...OPTIONS,
      timeout: 5000,
    });
    const areUnresponsive = (): boolean =>
      chain.sources.slice(0, 4).every(({ state }) => state === "unresponsive");
    await collect(chain, ({ type }) => type === "source" && areUnresponsive());
    const reasons = chain.sources.map(({ reason }) => reason);
    expect(reasons).toEqual([
      "tip: no answer within 5000 ms",
      "tip: HTTP status 503",
      "tip: the answer is not JSON",
      "headers: the last one is cut off",
      undefined,
    ]);
    await untilSynced(chain);
    expect(chain.tip?.id).toBe(good.tip.id);
    await chain.close();
  });

  test.each([
    [500_000_001, "tip: height: expected at most 500000000, got 500000001"],
    [500_000_000, "headers/11/1000: HTTP status 404"],
  ])("claims block %i has no say in the target once it is unresponsive", async (height, reason) => {
    const good = await sources.start(extended(common, 5));
    const boasting = await sources.start(common);
    boasting.fault = ({ name }, response) => {
      const tip = { first: 1, height, id: "00".repeat(32) };
      return name === "tip" && Boolean(response.end(JSON.stringify(tip)));
    };
    const chain = randomx.follow([{ relay: boasting.url }, { relay: good.url }], OPTIONS);
    const events = await untilSynced(chain);
    await chain.close();
    expect(chain.sources[0]).toMatchObject({ state: "unresponsive", reason });
    expect(eventOf(events, "progress")?.target).toBe(15);
  });

  test.each([
    ["too many headers", 93],
    ["headers without bytes", 1],
  ])("sends %s has no say in the progress once it is unresponsive", async (_, bytes) => {
    const good = await sources.start(extended(common, 5));
    const bad = await sources.start(common);
    bad.fault = ({ name, params }, response) => {
      const tip = { first: 1, height: 2000, id: "00".repeat(32) };
      if (name === "tip") response.end(JSON.stringify(tip));
      else if (params.first === 11) response.end(Buffer.alloc(bytes * Number(params.count)));
      return name === "tip" || params.first === 11;
    };
    const chain = randomx.follow([{ relay: bad.url }, { relay: good.url }], OPTIONS);
    const events = await untilSynced(chain);
    await chain.close();
    expect(chain.sources.map(({ state }) => state)).toEqual(["unresponsive", "following"]);
    const progress = events.filter((event) => event.type === "progress");
    expect(progress.at(-1)).toMatchObject({ read: 15, target: 15 });
    expect(Math.max(...progress.map(({ read }) => read))).toBeLessThanOrEqual(2000);
  });

  test("answers late, as do six others, does not hold up the eighth", async () => {
    const blocks = extended(common, 100);
    const late = await Promise.all(Array.from({ length: 7 }, () => sources.start(blocks)));
    for (const source of late) source.delay = 3000;
    const good = await sources.start(common);
    const nodes = [...late, good].map(({ url }) => ({ node: url }));
    const chain = randomx.follow(nodes, { ...OPTIONS, sample: 1000 });
    // The second questions for blocks are more than the first.
    await eventually(() => {
      for (const source of late) expect(source.count("get_block")).toBeGreaterThan(4);
    });
    const start = performance.now();
    good.chain = blocks;
    await untilTip(chain, good.tip.id);
    // With eight requests ahead for each source it takes 38 seconds or more.
    expect(performance.now() - start).toBeLessThan(30_000);
    await chain.close();
  });

  fullTest("equivocates does not move the tip from the honest chain", async () => {
    const [good, bad] = [await sources.start(extended(common, 9)), await sources.start(common)];
    const faces = [extended(common, 4, { nonce: 1 }), extended(common, 6, { nonce: 2 })];
    let turn = 0;
    bad.fault = () => {
      bad.chain = faces[(turn += 1) % 2] ?? common;
      return false;
    };
    const chain = randomx.follow([{ relay: bad.url }, { node: good.url }], OPTIONS);
    await untilTip(chain, good.tip.id);
    good.chain = extended(good.chain, 1);
    await untilTip(chain, good.tip.id);
    await chain.close();
  });
});

/** Returns blocks whose hashes meet a difficulty, or do not meet it. */
async function mined(
  count: number,
  difficulty: bigint,
  isMet: boolean,
  after: SimulatedBlock | undefined = common[0],
): Promise<SimulatedBlock[]> {
  const blocks = after === common[0] && after ? [after] : [];
  let last = after;
  for (let made = 0; made < count && last; made += 1) {
    const template = child(last, isMet ? {} : { nonce: 1000 });
    const tries = Array.from({ length: 8 }, (_, nonce) =>
      withNonce(template, (isMet ? 0 : 1000) + nonce),
    );
    const hashes = await randomx.hashMany(
      product.MAINNET_GENESIS.id,
      tries.map(({ hashingBlob }) => hashingBlob),
    );
    const index = hashes.findIndex(
      (hash) =>
        BigInt(`0x${Buffer.from(hash).reverse().toString("hex")}`) * difficulty < 1n << 256n ===
        isMet,
    );
    const found = tries[index];
    if (!found) throw new Error("no nonce was found");
    blocks.push(found);
    last = found;
  }
  return blocks;
}
