/** A long run in one tab: every hash right, no worker lost, memory flat. */
import { randomBytes } from "node:crypto";
import type { BrowserName } from "../browsers/browser.js";
import { expect, test } from "../browsers/test.js";
import { heldMemory } from "../browsers/memory.js";
import type { Batch } from "../harness/vectors.js";
import { nativeHashes } from "./native.js";

/** In Chromium the whole of it; elsewhere a part, since all of it would take minutes. */
const HASHES = { chromium: 2000, firefox: 200, webkit: 200 };

const THREADS = 2;

/** The keys that are used in turn, each with both versions. */
const KEYS = ["00", "01", "02", "03"];

/** Times that each key's cache is made; memory is measured after each round of keys. */
const ROUNDS = 5;

/**
 * MiB more after the last round than after the first, once the browser has had time to collect:
 * what it has not collected comes and goes, in Firefox by as much as a cache. Kept caches would
 * be 5 GiB, kept modules more than one.
 */
const SLACK = { chromium: 120, firefox: 400, webkit: 120 };

/** MiB that a tab may take: 256 are the cache, 16 the scratchpads. */
const TAB = { chromium: 300, firefox: 350, webkit: 350 };

test("hashes over four keys in one tab", async ({ harness, engine }) => {
  test.setTimeout(600_000);
  const held: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const batches = turn(engine);
    const expected = nativeHashes(batches);
    expect(expected).toHaveLength(HASHES[engine] / ROUNDS);
    for (const batch of batches) {
      const { hashes, workers } = await harness.call("soak", THREADS, batch);
      expect(hashes).toEqual(expected.splice(0, batch.inputs.length));
      expect(workers).toBe(THREADS);
    }
    held.push(heldMemory() ?? 0);
  }
  test.info().annotations.push({ type: "MiB held after each round", description: held.join(", ") });
  const [first = 0] = held;
  const more = (): number => (heldMemory() ?? 0) - first;
  await expect.poll(more, { timeout: 60_000 }).toBeLessThan(SLACK[engine]);
});

test("one worker with eight lanes in a tab", async ({ harness, engine }) => {
  const before = heldMemory();
  test.skip(before === undefined, "this system does not tell what programs hold");
  const [batch] = turn(engine);
  if (!batch) throw new Error("there is no batch");
  for (let round = 0; round < 8; round += 1) {
    batch.inputs = batch.inputs.slice(0, 8).map(() => randomBytes(76).toString("hex"));
    const { hashes } = await harness.call("soak", 1, batch);
    expect(hashes).toEqual(nativeHashes([batch]));
  }
  const added = (): number => (heldMemory() ?? 0) - (before ?? 0);
  test.info().annotations.push({ type: "MiB added to a tab", description: added().toFixed(0) });
  await expect.poll(added, { timeout: 30_000 }).toBeLessThan(TAB[engine]);
});

/** All keys in turn. Inputs are never used twice: engines keep the code of programs that come again. */
function turn(engine: BrowserName): Batch[] {
  const each = HASHES[engine] / ROUNDS / (2 * KEYS.length);
  return KEYS.flatMap((key) =>
    ([1, 2] as const).map((version) => {
      const inputs = Array.from({ length: each }, () => randomBytes(76).toString("hex"));
      return { key, version, inputs };
    }),
  );
}
