/** `RandomX.follow` with simulated sources: what it reports, and how it ends. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as product from "../../../wasm/js/index.js";
import { AnyRandomX as RandomX, fullTest } from "../support.js";
import { chainOf, extended } from "./blocks.js";
import { SimulatedSources } from "./source.js";
import { collect, eventOf, untilSynced, untilTip } from "./support.js";

type Store = product.Store;

const network = "regtest" as const;
const OPTIONS = { network, poll: 1 };
const common = chainOf(10);

let randomx: product.RandomX;
const sources = new SimulatedSources();

beforeAll(async () => {
  randomx = await RandomX.create({ threads: 2, slots: 2 });
  await randomx.prepare(product.MAINNET_GENESIS.id);
});

afterAll(async () => {
  randomx.dispose();
  await sources.stop();
});

// Most of the time they wait: questions are a second apart.
test.concurrent.each(["relay", "node"] as const)(
  "a %s is followed to its newest block",
  async (kind) => {
    const source = await sources.start(extended(common, 20));
    const chain = randomx.follow([{ [kind]: source.url } as never], OPTIONS);
    expect(chain.tip).toBeUndefined();
    expect(chain.confirmations(0)).toBe(0);
    const events = await untilSynced(chain);
    // A reader owns its events.
    for (const event of events) {
      if ("tip" in event) event.tip.height = -1;
      if ("source" in event) event.source.url = "";
    }
    const { height, id, timestamp } = source.tip;
    expect(chain.tip).toEqual({ height, id, timestamp, work: 31n });
    expect([31, 30, 29, 0].map((height) => chain.confirmations(height))).toEqual([0, 1, 2, 31]);
    expect(() => chain.confirmations(-1)).toThrow(/^height: /);
    expect(events.filter(({ type }) => type === "reorg")).toEqual([]);
    // Its blocks are years old.
    expect(eventOf(events, "stale")).toMatchObject({ alarm: "stale" });
    const url = `${source.url}/`;
    expect(chain.sources).toEqual([{ index: 0, kind, url, state: "following" }]);

    source.chain = extended(source.chain, 2);
    const [grown] = await collect(chain, ({ type }) => type === "tip");
    expect(grown).toBeDefined();
    expect(chain.tip?.id).toBe(source.tip.id);
    await chain.close();
    expect(await chain.next()).toEqual({ done: true, value: undefined });
  },
);

test.concurrent("the side with more work wins, whichever source has it", async () => {
  const short = await sources.start(extended(common, 5));
  const long = await sources.start(extended(common, 8, { nonce: 1 }));
  const chain = randomx.follow([{ relay: short.url }], OPTIONS);
  await untilSynced(chain);
  expect(chain.tip?.id).toBe(short.tip.id);
  // It has to revert its blocks.
  short.chain = long.chain;
  const events = await collect(chain, ({ type }) => type === "reorg");
  const reorg = eventOf(events, "reorg");
  expect(reorg).toMatchObject({
    common: { height: 10, id: common[10]?.id },
    depth: 5,
    tip: { height: 18, id: long.tip.id },
    reverted: { work: 5n },
    adopted: { work: 8n },
  });
  const adopted = long.chain.slice(11).map(({ height, id }) => ({ height, id }));
  expect(reorg?.adopted.blocks).toEqual(adopted);
  expect(reorg?.reverted.blocks.map(({ height }) => height)).toEqual([11, 12, 13, 14, 15]);
  await chain.close();
});

test.concurrent("a source with less work is a disagreement, with evidence", async () => {
  const short = await sources.start(extended(common, 5));
  const long = await sources.start(extended(common, 8, { nonce: 1 }));
  const chain = randomx.follow([{ relay: long.url }, { node: short.url }], OPTIONS);
  const events = await untilSynced(chain);
  await chain.close();
  const disagreement = eventOf(events, "disagreement");
  expect(disagreement).toMatchObject({
    source: { index: 1, kind: "node" },
    common: { height: 10 },
    ours: { work: 8n },
    theirs: { work: 5n },
  });
  expect(
    Buffer.from(disagreement?.evidence ?? [])
      .subarray(0, 8)
      .toString(),
  ).toBe("RXMevid1");
  expect(chain.tip?.id).toBe(long.tip.id);
});

fullTest.concurrent("a deep reorganisation is announced before it is adopted", async () => {
  const short = await sources.start(extended(common, 6));
  const chain = randomx.follow([{ relay: short.url }], { ...OPTIONS, deep: 6 });
  await untilSynced(chain);
  short.chain = extended(common, 7, { nonce: 1 });
  const events = await collect(chain, ({ type }) => type === "reorg");
  await chain.close();
  const types = events.map(({ type }) => type);
  expect(types.indexOf("deep-reorg")).toBeGreaterThanOrEqual(0);
  expect(types.indexOf("deep-reorg")).toBeLessThan(types.indexOf("reorg"));
  expect(eventOf(events, "deep-reorg")).toMatchObject({ depth: 6, source: { index: 0 } });
});

fullTest.concurrent(
  "a checkpoint of `verifyChain` is a start, such as an old one in localStorage",
  async () => {
    const blocks = extended(common, 20);
    const verified = randomx.verifyChain(
      blocks.slice(1, 26).map(({ block }) => ({ block })),
      { checkpoint: product.MAINNET_GENESIS, network },
    );
    for await (const verdict of verified) expect(verdict.valid).toBe(true);
    const { work, ...old } = JSON.parse(
      JSON.stringify(verified.checkpoint),
    ) as product.ChainCheckpoint;
    expect(work).toBe("26");
    const source = await sources.start(blocks);
    const chain = randomx.follow([{ relay: source.url }], { ...OPTIONS, anchor: old });
    const [first] = await collect(chain, ({ type }) => type === "tip");
    expect(first).toMatchObject({ tip: { height: 25, id: blocks[25]?.id } });
    await untilSynced(chain);
    await chain.close();
    // Without the work of the past, work is counted from the start.
    expect(chain.tip).toMatchObject({ height: 30, id: source.tip.id, work: 5n });
  },
);

describe.concurrent("it ends", () => {
  fullTest("when the loop is left", async () => {
    const source = await sources.start(common);
    const chain = randomx.follow([{ relay: source.url }], OPTIONS);
    for await (const { type } of chain) if (type === "synced") break;
    const asked = source.asked.length;
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect(source.asked.length).toBe(asked);
    expect(await chain.next()).toEqual({ done: true, value: undefined });
  });

  test("when its signal is aborted, before and during", async () => {
    const source = await sources.start(common);
    const stop = new AbortController();
    const chain = randomx.follow([{ relay: source.url }], { ...OPTIONS, signal: stop.signal });
    const reason = new Error("enough");
    const loop = collect(chain, ({ type }) => {
      if (type === "tip") stop.abort(reason);
      return false;
    });
    await expect(loop).rejects.toMatchObject({ code: "aborted", cause: reason });
    expect(await chain.next()).toEqual({ done: true, value: undefined });
    const { signal } = stop;
    expect(() => randomx.follow([{ relay: source.url }], { ...OPTIONS, signal })).toThrow(
      /aborted/,
    );
  });

  test("with its instance", async () => {
    const source = await sources.start(common);
    const own = await RandomX.create({ threads: 1 });
    const chain = own.follow([{ relay: source.url }], OPTIONS);
    const waiting = collect(chain, () => false);
    own.dispose();
    await expect(waiting).rejects.toMatchObject({ code: "disposed" });
    expect(() => own.follow([{ relay: source.url }], OPTIONS)).toThrow(/disposed/);
  });

  test("with its instance, which waits for the store", async () => {
    const source = await sources.start(common);
    const own = await RandomX.create({ threads: 1 });
    let isSaved = false;
    await new Promise<void>((begun) => {
      const save = async (): Promise<void> => {
        begun();
        await new Promise((resolve) => setTimeout(resolve, 200));
        isSaved = true;
      };
      const store: Store = { load: () => Promise.resolve(undefined), save };
      own.follow([{ relay: source.url }], { ...OPTIONS, store });
    });
    own.dispose();
    await own[Symbol.asyncDispose]();
    expect(isSaved).toBe(true);
  });

  test("by await using, with its state in the store", async () => {
    const source = await sources.start(common);
    let saved = 0;
    const store: Store = {
      load: () => Promise.resolve(undefined),
      save: async () => {
        await new Promise((resolve) => setTimeout(resolve, 200));
        saved += 1;
      },
    };
    const chain = randomx.follow([{ relay: source.url }], { ...OPTIONS, store });
    await untilSynced(chain);
    const before = saved;
    source.chain = extended(common, 1);
    await collect(chain, ({ type }) => type === "tip" && chain.tip?.height === 11);
    await chain[Symbol.asyncDispose]();
    expect(saved).toBeGreaterThan(before);
    await chain.close();
  });
});

test.concurrent("requests go through the caller's fetch", async () => {
  const source = await sources.start(extended(common, 30));
  const seen: string[] = [];
  const fetch: typeof globalThis.fetch = (url, init) => {
    const address = url as string;
    seen.push(address);
    return globalThis.fetch(address.replace("wallet.invalid:1", new URL(source.url).host), init);
  };
  const chain = randomx.follow(
    [
      { relay: "http://wallet.invalid:1/relay/", fetch },
      { node: "http://wallet.invalid:1", fetch },
    ],
    OPTIONS,
  );
  source.fault = ({ name }, response) => {
    // The relay's path has a prefix, which the source does not know.
    if (name === "v1") response.writeHead(404).end();
    return name === "v1";
  };
  await untilTip(chain, source.tip.id);
  await chain.close();
  expect(seen).toContain("http://wallet.invalid:1/relay/v1/tip");
  expect(seen).toContain("http://wallet.invalid:1/json_rpc");
});

fullTest.concurrent("a full queue delays hashes, and loses none", async () => {
  const source = await sources.start(extended(common, 20));
  const small = await RandomX.create({ threads: 1, lanes: 4, maxQueue: 3 });
  const chain = small.follow([{ relay: source.url }], OPTIONS);
  const events = await untilSynced(chain);
  expect(events.filter(({ type }) => type === "failure")).toEqual([]);
  expect(chain.tip?.id).toBe(source.tip.id);
  await chain.close();
  small.dispose();
});

test.each<[string, unknown, unknown]>([
  ["sources: expected an array", {}, {}],
  ["sources: expected at least one", [], {}],
  ["sources: expected at most 8 entries, got 9", new Array(9).fill({ node: "http://a" }), {}],
  ["sources[0]: expected the address of either a node or a relay", [{}], {}],
  ["sources[0].relay: expected http: or https:, got ftp:", [{ relay: "ftp://a" }], {}],
  ["sources[0].node: expected an address", [{ node: "a" }], {}],
  ["sources[0].fetch: expected a function, got number", [{ node: "http://a", fetch: 1 }], {}],
  ["network: expected one of", undefined, { network: "main" }],
  ["sample: expected a whole number", undefined, { sample: 0 }],
  ["store: expected an object with the methods load and save", undefined, { store: {} }],
  ["anchor: expected a checkpoint or two anchors", undefined, { anchor: [] }],
  ["anchor.height: expected a whole number", undefined, { anchor: {} }],
  ["fixedDifficulty: expected at least 1", undefined, { fixedDifficulty: 0 }],
  ["fixedDifficulty: expected less than 2^128", undefined, { fixedDifficulty: 1n << 128n }],
  ["signal: expected an AbortSignal", undefined, { signal: {} }],
])("refuses %s", (message, given, options) => {
  const sources = given ?? [{ node: "http://127.0.0.1:1" }];
  expect(() => randomx.follow(sources as never, options as never)).toThrow(message);
});

test("questions with wrong arguments reject", async () => {
  const chain = randomx.follow([{ node: "http://127.0.0.1:1" }], OPTIONS);
  await expect(chain.headers(-1, 0)).rejects.toThrow(/^first: /u);
  await expect(chain.headers(0, -1)).rejects.toThrow(/^last: /u);
  await expect(chain.prove("0")).rejects.toThrow(/^block: /u);
  await expect(chain.transactionIds({} as never)).rejects.toThrow(/^transactions: /u);
  await chain.close();
});

test.concurrent.each<[string, object]>([
  ["anchor: checkpoint: ", { anchor: { ...product.MAINNET_GENESIS, seeds: [] } }],
  [
    "anchor: anchors: expected the second to be 2112 blocks or more after the first",
    {
      anchor: [2100, 2500].map((height) => ({ height, id: "00".repeat(32), work: height })),
    },
  ],
])("the loop rejects: %s", async (message, options) => {
  const chain = randomx.follow([{ node: "http://127.0.0.1:1" }], { network, ...options });
  await expect(collect(chain, () => false)).rejects.toMatchObject({
    code: "invalid-argument",
    message: expect.stringContaining(message) as string,
  });
});
