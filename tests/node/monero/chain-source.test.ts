/** The source of the blocks that `verifyChain` verifies: when it is opened, read and closed, and what its errors do. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as source from "../../../wasm/js/index.js";
import { AnyRandomX as RandomX, fullTest } from "../support.js";
import { all, failed, madeChain } from "./support.js";

const { MAINNET_GENESIS } = source;
const network = "regtest" as const;
const GENESIS_KEY = MAINNET_GENESIS.id;
const made = madeChain(48);
let randomx: source.RandomX;

beforeAll(async () => {
  randomx = await RandomX.create({ threads: 2 });
  await randomx.prepare(GENESIS_KEY);
});

afterAll(() => {
  randomx.dispose();
});

describe("the source", () => {
  const checkpoint = MAINNET_GENESIS;

  test("is opened by the first verdict that is asked for", async () => {
    let opened = 0;
    const blocks = {
      [Symbol.iterator]: () => {
        opened += 1;
        return [][Symbol.iterator]();
      },
    };
    const left = randomx.verifyChain(blocks, { checkpoint, network });
    await left.return();
    expect(await left.next()).toEqual({ done: true, value: undefined });
    expect(opened).toBe(0);
    expect(await all(randomx.verifyChain(blocks, { checkpoint, network }))).toEqual([]);
    expect(opened).toBe(1);
  });

  test("may be asynchronous, like a node's blocks", async () => {
    async function* blocks() {
      for (const [index, { block, id }] of made.slice(0, 20).entries()) {
        await Promise.resolve();
        yield { blob: block, header: { id, height: index + 1, difficulty: 1n } };
      }
    }
    const verdicts = await all(randomx.verifyChain(blocks(), { checkpoint, network }));
    expect(verdicts).toHaveLength(20);
    expect(verdicts.flatMap(failed)).toEqual([]);
    const [{ checks } = { checks: [] }] = verdicts;
    expect(checks.filter(({ passed }) => passed === null).map(({ name }) => name)).toEqual([
      "hashing-blob",
    ]);
  });

  test("may add seed hashes to a node's blocks", async () => {
    const blocks = made.slice(0, 3).map(({ block, id }, index) => ({
      blob: block,
      header: { id, height: index + 1, difficulty: 1n },
      seedHash: GENESIS_KEY,
    }));
    const verdicts = await all(randomx.verifyChain(blocks, { from: 1, network }));
    expect(verdicts.map(({ valid }) => valid)).toEqual([true, true, true]);
    const wrong = blocks.map((block) => ({ ...block, seedHash: "00" }));
    await expect(all(randomx.verifyChain(wrong, { from: 1, network }))).rejects.toThrow(
      /^blocks\[0\]\.seedHash: /,
    );
  });

  fullTest("fails the chain with its error, after the verdicts on earlier blocks", async () => {
    const reason = new Error("the node is gone");
    async function* blocks() {
      for (const { block } of made.slice(0, 40)) {
        await Promise.resolve();
        yield { block };
      }
      throw reason;
    }
    const chain = randomx.verifyChain(blocks(), { checkpoint, network });
    const verdicts: source.ChainVerdict[] = [];
    await expect(
      (async () => {
        for await (const verdict of chain) verdicts.push(verdict);
      })(),
    ).rejects.toBe(reason);
    expect(verdicts.length).toBeGreaterThan(0);
    expect(chain.checkpoint?.height).toBe(verdicts.length);
  });

  fullTest("is closed when the loop is left", async () => {
    let isEnded = false;
    function* blocks() {
      try {
        for (const { block } of made) yield { block };
      } finally {
        isEnded = true;
      }
    }
    for await (const { height } of randomx.verifyChain(blocks(), { checkpoint, network })) {
      if (height === 5) break;
    }
    expect(isEnded).toBe(true);
  });

  test.each(["ends", "fails"])("that %s is neither read nor closed afterwards", async (end) => {
    const calls: string[] = [];
    const next = (): object => {
      if (calls.push("next") === 1) return { value: { block: made[0]?.block } };
      if (end === "ends") return { done: true };
      throw new Error("the end");
    };
    const blocks = { [Symbol.iterator]: () => ({ next, return: () => calls.push("return") }) };
    const chain = randomx.verifyChain(blocks as never, { checkpoint, network });
    expect(await chain.next()).toMatchObject({ value: { height: 1, valid: true } });
    if (end === "ends") expect(await chain.next()).toEqual({ done: true, value: undefined });
    else await expect(chain.next()).rejects.toThrow("the end");
    expect(calls).toEqual(["next", "next"]);
  });

  test("that waits for its next block delays no verdict on the others", async () => {
    const stop = new AbortController();
    async function* blocks() {
      yield* made.slice(0, 3).map(({ block }) => ({ block }));
      await new Promise(() => 0);
    }
    const options = { checkpoint, network, signal: stop.signal };
    const chain = randomx.verifyChain(blocks(), options);
    for (const height of [1, 2, 3]) {
      expect(await chain.next()).toMatchObject({ value: { height, valid: true } });
    }
    expect(chain.checkpoint?.height).toBe(3);
    stop.abort();
    await expect(chain.next()).rejects.toMatchObject({ code: "aborted" });
  });

  test("that never answers can be aborted", async () => {
    const stop = new AbortController();
    const blocks = { [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => 0) }) };
    const chain = randomx.verifyChain(blocks, { checkpoint, network, signal: stop.signal });
    const waiting = expect(chain.next()).rejects.toMatchObject({ code: "aborted" });
    stop.abort();
    await waiting;
  });

  test("that fails when it is closed does not replace the reason for the end", async () => {
    const stop = new AbortController();
    const blocks = {
      [Symbol.iterator]: () => ({
        next: () => ({ value: { block: made[0]?.block } }),
        return: () => {
          throw new Error("closed twice");
        },
      }),
    };
    const options = { checkpoint, network, signal: stop.signal };
    const chain = randomx.verifyChain(blocks as never, options);
    stop.abort();
    await expect(chain.next()).rejects.toMatchObject({ code: "aborted" });
  });
});
