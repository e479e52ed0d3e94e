/** A long run in one tab: every hash right, no worker lost, memory flat. */
import { expect, test, type Harness } from "../browsers/test.js";
import { heldMemory } from "../browsers/memory.js";
import { known, repeat, type KnownBatch } from "./known.js";

/** In Chromium the whole of it; elsewhere a part, since all of it would take minutes. */
const HASHES = { chromium: 2000, firefox: 400, webkit: 400 };

const THREADS = 2;

/** The keys that are used in turn, each with both versions. */
const KEYS = 4;

/** Times that each key's cache is made; memory is measured after each round of keys. */
const ROUNDS = 5;

/**
 * MiB more after the last round than after the first, once the browser has had time to collect:
 * what it has not collected comes and goes, in Firefox by as much as a cache. Kept caches would
 * be 5 GiB, kept modules more than one.
 */
const SLACK = { chromium: 120, firefox: 400, webkit: 120 };

test("hashes over four keys in one tab", async ({ harness, engine }) => {
  test.setTimeout(600_000);
  const held: number[] = [];
  let hashed = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const batch of turn(HASHES[engine] / ROUNDS)) hashed += await step(harness, batch);
    held.push(heldMemory() ?? 0);
  }
  expect(hashed).toBe(HASHES[engine]);
  test.info().annotations.push({ type: "MiB held after each round", description: held.join(", ") });
  const [first = 0] = held;
  const more = (): number => (heldMemory() ?? 0) - first;
  await expect.poll(more, { timeout: 60_000 }).toBeLessThan(SLACK[engine]);
});

async function step(harness: Harness, batch: KnownBatch): Promise<number> {
  const { hashes, workers } = await harness.call("soak", THREADS, batch);
  expect(hashes).toEqual(batch.hashes);
  expect(workers).toBe(THREADS);
  return hashes.length;
}

/** All keys in turn, with as many hashes in all. */
function turn(count: number): KnownBatch[] {
  const batches = known.filter(({ file }) => file === "reference-hashes").slice(0, 2 * KEYS);
  const each = count / batches.length;
  return batches.map((batch) => repeat(batch, each));
}
