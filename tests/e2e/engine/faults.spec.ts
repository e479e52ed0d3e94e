/** Faults: the call in progress reports the fault, and the next call succeeds. */
import { heldMemory } from "../browsers/memory.js";
import { expect, test } from "../browsers/test.js";
import { known, repeat } from "./known.js";

const [shares] = known.filter(({ file }) => file === "mainnet-shares");
const [one, , , two] = known.filter(({ file }) => file === "reference-hashes");
if (!shares || !one || !two) throw new Error("tests/vectors: a batch of known hashes is missing");

/** Long enough to be interrupted. */
const large = repeat(shares, 400);
const small = repeat(shares, 20);

/**
 * MiB that a browser may hold more after 1,000 instances of more than 1 MiB each are gone. Firefox
 * frees what ended workers leave behind late, and all of it only when the page is gone.
 */
const SLACK = { chromium: 60, firefox: 600, webkit: 60 };

test.describe("faults", { tag: "@full" }, () => {
  for (const threads of [1, 2]) {
    test(`one of ${threads} workers is killed in the middle of a batch`, async ({ harness }) => {
      const { batch, next, workers } = await harness.call("killedInBatch", threads, large, small);
      expect(batch).toBe("worker-failed");
      expect(next).toEqual(small.hashes);
      expect(workers).toBe(threads);
    });
  }

  test("two keys at once, in one instance and in two", async ({ harness }) => {
    const outcomes = await harness.call("keysAtOnce", [one, two]);
    expect(one.key).not.toBe(two.key);
    expect(outcomes).toEqual([one.hashes, two.hashes, two.hashes, one.hashes]);
  });

  test("an instance is disposed of under load", async ({ harness }) => {
    const batches = [large, large, repeat(one, 100)];
    const { outcomes, later, workers } = await harness.call("disposedUnderLoad", batches);
    expect(outcomes).toEqual(["disposed", "disposed", "disposed"]);
    expect(later).toEqual(outcomes);
    expect(workers).toBe(0);
  });

  test("a worker is killed while the engines take turns", async ({ harness }) => {
    const { before, next, workers } = await harness.call("killedInTrial", small);
    // The other worker may have had the batch.
    if (before !== "worker-failed") expect(before).toEqual(small.hashes);
    expect(next).toEqual(small.hashes);
    expect(workers).toBe(2);
  });

  test("memory is refused, then granted", async ({ harness }) => {
    const { refused, next } = await harness.call("refusedMemory", small);
    expect(refused).toBe("out-of-memory");
    expect(next).toEqual(small.hashes);
  });

  test("1,000 instances come and go, and leave nothing", async ({
    freshHarness: harness,
    engine,
  }) => {
    test.setTimeout(240_000);
    await harness.call("comeAndGo", 20);
    const before = heldMemory();
    const { workers, seedHeight } = await harness.call("comeAndGo", 1000);
    expect(workers).toBe(0);
    expect(seedHeight).toBe(2048);
    test.skip(before === undefined, "this system does not report memory by process");
    const more = (): number => (heldMemory() ?? 0) - (before ?? 0);
    await expect.poll(more, { timeout: 30_000 }).toBeLessThan(SLACK[engine]);
  });
});
