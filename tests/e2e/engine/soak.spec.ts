/** A long run in one tab: every hash right, no worker lost, memory flat. */
import { randomBytes } from "node:crypto";
import { heldMemory } from "../browsers/memory.js";
import { expect, test } from "../browsers/test.js";
import type { Batch } from "../harness/vectors.js";
import { nativeHashes } from "./native.js";

/** Elsewhere than in Chromium fewer, since the full number would take minutes. `tests/soak` hashes for longer. */
const HASHES = { chromium: 1000, firefox: 200, webkit: 200 };

const THREADS = 2;

/** The keys that are used in turn, each with both versions. */
const KEYS = ["00", "01", "02", "03"];

/** Times that each key's cache is filled; memory is measured after each round of keys. */
const ROUNDS = 5;

/**
 * MiB more after the last round than after the first, once the browser has had time to collect
 * garbage: until then a tab's memory varies, in Firefox by as much as a cache. Leaked caches would be
 * 4 GiB, leaked modules half a GiB.
 */
const SLACK = { chromium: 120, firefox: 400, webkit: 120 };

/** MiB that a tab may take: the cache is 256, the scratchpads are 16. */
const TAB = { chromium: 300, firefox: 350, webkit: 350 };

test.describe("memory", { tag: "@full" }, () => {
  test("hashes with four keys in one tab", async ({ freshHarness: harness, engine }) => {
    test.setTimeout(600_000);
    const rounds = Array.from({ length: ROUNDS }, () => round(HASHES[engine] / ROUNDS));
    const expected = nativeHashes(rounds.flat());
    expect(expected.flat()).toHaveLength(HASHES[engine]);
    const held: number[] = [];
    for (const batches of rounds) {
      for (const batch of batches) {
        const { hashes, workers } = await harness.call("soak", THREADS, batch);
        expect(hashes).toEqual(expected.shift());
        expect(workers).toBe(THREADS);
      }
      held.push(heldMemory() ?? 0);
    }
    test.skip(heldMemory() === undefined, "this system does not report memory by process");
    test
      .info()
      .annotations.push({ type: "MiB held after each round", description: held.join(", ") });
    const [first = 0] = held;
    const more = (): number => (heldMemory() ?? 0) - first;
    await expect.poll(more, { timeout: 60_000 }).toBeLessThan(SLACK[engine]);
  });

  test("one worker with eight lanes in a tab", async ({ freshHarness: harness, engine }) => {
    const before = heldMemory();
    test.skip(before === undefined, "this system does not report memory by process");
    const batches = Array.from({ length: 8 }, (): Batch => {
      return { key: "00", version: 1, inputs: randomInputs(8) };
    });
    const expected = nativeHashes(batches);
    for (const batch of batches) {
      const { hashes } = await harness.call("soak", 1, batch);
      expect(hashes).toEqual(expected.shift());
    }
    const added = (): number => (heldMemory() ?? 0) - (before ?? 0);
    test.info().annotations.push({ type: "MiB added to a tab", description: added().toFixed(0) });
    await expect.poll(added, { timeout: 30_000 }).toBeLessThan(TAB[engine]);
  });
});

/** A batch for each key and version. */
function round(hashes: number): Batch[] {
  const each = hashes / (2 * KEYS.length);
  return KEYS.flatMap((key) =>
    ([1, 2] as const).map((version) => ({ key, version, inputs: randomInputs(each) })),
  );
}

/** Engines keep the code of programs that they have compiled before, so no input is used twice. */
function randomInputs(count: number): string[] {
  return Array.from({ length: count }, () => randomBytes(76).toString("hex"));
}
