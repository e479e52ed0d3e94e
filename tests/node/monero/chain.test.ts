/** `verifyChain` with real headers and with a generated chain. */
import { bytesToHex } from "@noble/hashes/utils.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as source from "../../../wasm/js/index.js";
import { AnyRandomX as RandomX } from "../support.js";
import { all, failed, headerChain, headers, madeBlock, madeChain } from "./support.js";

const { MAINNET_GENESIS } = source;
const network = "regtest" as const;
const GENESIS_KEY = MAINNET_GENESIS.id;
const made = madeChain(48);
let randomx: source.RandomX;

beforeAll(async () => {
  randomx = await RandomX.create({ threads: 2, slots: 2 });
  await randomx.prepare(GENESIS_KEY);
});

afterAll(() => {
  randomx.dispose();
});

test("the main network's headers are a chain", async () => {
  const [first] = headers.blocks;
  const chain = randomx.verifyChain(headerChain(), { from: first?.height });
  expect(chain.checkpoint).toBeUndefined();
  const verdicts = await all(chain);
  expect(verdicts.map(({ valid }) => valid)).toEqual(headers.blocks.map(() => true));
  expect(verdicts.map(({ hash }) => hash && bytesToHex(hash))).toEqual(
    headers.blocks.map(({ pow_hash }) => pow_hash),
  );
  const { checkpoint } = chain;
  expect(checkpoint).toMatchObject({
    height: headers.blocks.at(-1)?.height,
    id: headers.blocks.at(-1)?.id,
    seeds: [{ height: headers.seed_height, id: headers.seed_hash }],
  });
  expect(checkpoint?.recent.map(({ difficulty }) => difficulty)).toEqual(
    headers.blocks.map(({ difficulty }) => difficulty),
  );
});

test("a chain is verified from its genesis block, and continues from a stored checkpoint", async () => {
  const options = { checkpoint: MAINNET_GENESIS, network };
  const whole = randomx.verifyChain(made, options);
  const verdicts = await all(whole);
  expect(verdicts.map(({ height }) => height)).toEqual(made.map((_, index) => index + 1));
  expect(verdicts.flatMap(failed)).toEqual([]);
  expect(verdicts.every(({ hash }) => hash)).toBe(true);

  const begun = randomx.verifyChain(made.slice(0, 30), options);
  await all(begun);
  const kept = JSON.parse(JSON.stringify(begun.checkpoint)) as source.ChainCheckpoint;
  expect(kept).toMatchObject({ height: 30, id: made[29]?.id });
  expect(kept.recent).toHaveLength(31);
  const rest = randomx.verifyChain(made.slice(30), { checkpoint: kept, from: 31, network });
  expect((await all(rest)).every(({ valid }) => valid)).toBe(true);
  expect(rest.checkpoint).toEqual(whole.checkpoint);
});

test("it ends after a block that is not valid, and saves nothing of that batch", async () => {
  const broken = [...made];
  broken[40] = { block: madeBlock(41, "00".repeat(32)), id: "" };
  const chain = randomx.verifyChain(
    broken.map(({ block }) => ({ block })),
    { checkpoint: MAINNET_GENESIS, network },
  );
  const verdicts = await all(chain);
  expect(verdicts).toHaveLength(41);
  expect(verdicts.slice(0, 40).every(({ valid }) => valid)).toBe(true);
  expect(failed(verdicts[40])).toEqual(["previous-id"]);
  // The blocks of a batch are saved together, and only if none of them is refused.
  expect([16, 32]).toContain(chain.checkpoint?.height);
});

test("no block of a later batch is judged after a block that is not valid", async () => {
  const broken = made.map(({ block }) => ({ block }));
  broken[5] = { block: madeBlock(6, "00".repeat(32)) };
  const chain = randomx.verifyChain(broken, { checkpoint: MAINNET_GENESIS, network });
  const verdicts = await all(chain);
  expect(verdicts.map(({ height, valid }) => [height, valid])).toEqual(
    [1, 2, 3, 4, 5, 6].map((height) => [height, height < 6]),
  );
  expect(chain.checkpoint?.height).toBe(0);
});

test("an incomplete checkpoint is refused, unless it is allowed", async () => {
  const begun = randomx.verifyChain(made.slice(0, 20), { checkpoint: MAINNET_GENESIS, network });
  await all(begun);
  const recent = begun.checkpoint?.recent.slice(1);
  const checkpoint = { ...begun.checkpoint, recent } as source.ChainCheckpoint;
  const rest = made.slice(20).map(({ block }) => ({ block, difficulty: 1 }));
  await expect(all(randomx.verifyChain(rest, { checkpoint, network }))).rejects.toMatchObject({
    code: "invalid-argument",
    message: expect.stringContaining("checkpoint: ") as string,
  });
  const allowed = randomx.verifyChain(rest, { checkpoint, network, allowIncomplete: true });
  const verdicts = await all(allowed);
  expect(verdicts.map(({ completeStart }) => completeStart)).toEqual(rest.map(() => false));
});

test.each([
  ["id", { id: "00".repeat(32) }],
  ["height", { height: 12 }],
  ["seed-hash", { seedHash: "00".repeat(32) }],
  ["difficulty", { difficulty: 2 }],
  ["hashing-blob", { hashingBlob: "00" }],
  ["block", { block: "1010" }],
  ["previous-id", { block: madeBlock(11, "11".repeat(32)) }],
  ["timestamp-future", { block: madeBlock(11, made[9]?.id ?? "", 1e9) }],
])("the check %s catches a false claim", async (name, lie) => {
  const blocks: source.ChainBlock[] = made.slice(0, 20).map(({ block }) => ({ block }));
  blocks[10] = { ...blocks[10], ...lie };
  const verdicts = await all(randomx.verifyChain(blocks, { checkpoint: MAINNET_GENESIS, network }));
  expect(verdicts).toHaveLength(11);
  expect(failed(verdicts[10])).toEqual([name]);
});

test("the check proof-of-work catches a missing proof of work", async () => {
  const chain = randomx.verifyChain(made.slice(0, 3), {
    checkpoint: MAINNET_GENESIS,
    network,
    fixedDifficulty: 1n << 100n,
  });
  const verdicts = await all(chain);
  expect(verdicts.map(failed)).toEqual([["proof-of-work"]]);
  expect(chain.checkpoint).toMatchObject({ height: 0 });
});

test("a sample checks few proofs of work, and always the last", async () => {
  const checkpoint = MAINNET_GENESIS;
  const verdicts = await all(randomx.verifyChain(made, { checkpoint, network, sample: 1_000_000 }));
  const looked = verdicts.filter(({ hash }) => hash).map(({ height }) => height);
  expect(looked.at(-1)).toBe(made.length);
  expect(looked.length).toBeLessThan(4);
  const [first] = verdicts;
  expect(first?.checks.at(-1)).toMatchObject({ name: "proof-of-work", passed: null });
  for (const { hash, status } of verdicts) expect(status).toBe(hash ? "valid" : "unproven");
});

test("the fill for each seed hash is reported once, to its end", async () => {
  const batch = 2 * randomx.configuration.threads * randomx.configuration.lanes;
  // The seed hash changes in the first batch.
  const from = 2113 - batch / 2;
  const blocks = madeChain(2 * batch + 1, from).map(({ block }, index) => ({
    ...{ block, difficulty: 1 },
    seedHash: index < batch / 2 ? GENESIS_KEY : "77".repeat(32),
  }));
  const reported: source.Progress[] = [];
  const onProgress = (progress: source.Progress): void => void reported.push(progress);
  const verdicts = await all(randomx.verifyChain(blocks, { from, network, onProgress }));
  expect(verdicts.flatMap(failed)).toEqual([]);
  expect(verdicts).toHaveLength(blocks.length);
  expect(new Set(reported.map(({ phase }) => phase))).toEqual(new Set(["cache"]));
  const [first, ...parts] = reported.map(({ done }) => done);
  expect([first, parts[0], parts.indexOf(1)]).toEqual([1, 0, parts.length - 1]);
  expect(parts).toEqual([...parts].sort((a, b) => a - b));
});

test.each(["aborted", "disposed"] as const)(
  "a batch has no verdict after it is %s",
  async (code) => {
    using own = await RandomX.create({ threads: 1 });
    const stop = new AbortController();
    const options = { checkpoint: MAINNET_GENESIS, network, signal: stop.signal };
    const chain = own.verifyChain(made.slice(0, 3), options);
    expect(await chain.next()).toMatchObject({ value: { height: 1 } });
    if (code === "aborted") stop.abort();
    else own.dispose();
    await expect(chain.next()).rejects.toMatchObject({ code });
  },
);

test.each([
  ["neither checkpoint nor height", [], {}, /^checkpoint: expected this or from, got neither/],
  ["no blocks", null, { from: 1 }, /^blocks: /],
  ["an object that is not iterable", {}, { from: 1 }, /^blocks: expected an iterable/],
  ["a height that is not the next", [], { checkpoint: MAINNET_GENESIS, from: 2 }, /^from: /],
  ["a sample of none", [], { from: 1, sample: 0 }, /^sample: /],
  [
    "a checkpoint with a number for a difficulty",
    [],
    { checkpoint: { ...MAINNET_GENESIS, recent: [{ timestamp: 0, difficulty: 1 }] } },
    /^checkpoint.recent\[0\].difficulty: /,
  ],
  [
    "a checkpoint whose work has too many bits",
    [],
    { checkpoint: { ...MAINNET_GENESIS, work: (1n << 128n).toString() } },
    /^checkpoint.work: expected a string of decimal digits, below 2\^128/,
  ],
  [
    "a checkpoint with a hundred thousand blocks",
    [],
    { checkpoint: { ...MAINNET_GENESIS, recent: new Array(100_000).fill(0) } },
    /^checkpoint.recent: expected at most 735 entries, got 100000/,
  ],
])("refuses %s", (_, blocks, options, message) => {
  expect(() => randomx.verifyChain(blocks as never, options as never)).toThrow(message);
});

test("an error names the block whose argument is wrong", async () => {
  const options = { checkpoint: MAINNET_GENESIS, network };
  const blocks = [made[0], { block: "zz" }] as source.ChainBlock[];
  await expect(all(randomx.verifyChain(blocks, options))).rejects.toThrow(/^blocks\[1\].block: /);
  const silent = [{ hashingBlob: headers.blocks[0]?.hashing_blob ?? "" }];
  const chain = randomx.verifyChain(silent, { from: headers.blocks[0]?.height });
  await expect(all(chain)).rejects.toThrow(
    /^blocks\[0\]\.seedHash: expected the id of block 3725312/,
  );
});

describe("over several batches", () => {
  const claimed = made.map(({ block }) => ({ block, seedHash: GENESIS_KEY, difficulty: 1 }));

  test("a chain that began at a height stays trusted, and its work grows", async () => {
    const chain = randomx.verifyChain(claimed, { from: 1, network });
    const verdicts = await all(chain);
    expect(verdicts.map(({ valid }) => valid)).toEqual(made.map(() => true));
    expect(verdicts.map(({ work }) => work)).toEqual(made.map((_, index) => BigInt(index + 1)));
    expect(verdicts.some(({ completeStart }) => completeStart)).toBe(false);
    expect(chain.checkpoint).not.toHaveProperty("work");
  });

  test.each([undefined, "0", "00"])("work is counted from an unknown one: %s", async (work) => {
    const checkpoint = { ...MAINNET_GENESIS, work };
    const verdicts = await all(randomx.verifyChain(made, { checkpoint, network }));
    expect(verdicts.map(({ work }) => work)).toEqual(made.map((_, index) => BigInt(index + 1)));
    expect(verdicts.every(({ completeStart }) => completeStart)).toBe(true);
  });

  test("the blocks before one whose claim is missing are judged", async () => {
    const { block } = claimed[20] ?? { block: "" };
    const blocks = [
      ...claimed.slice(0, 20),
      { block, seedHash: GENESIS_KEY },
      ...claimed.slice(21),
    ];
    const chain = randomx.verifyChain(blocks, { from: 1, network });
    const heights: number[] = [];
    const judged = (async () => {
      for await (const { height } of chain) heights.push(height);
    })();
    await expect(judged).rejects.toThrow(/^blocks\[20\]\.difficulty: /);
    expect(heights).toEqual(claimed.slice(0, 20).map((_, index) => index + 1));
    expect(chain.checkpoint?.height).toBe(20);
  });
});
