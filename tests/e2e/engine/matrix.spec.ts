/**
 * Known hashes in every set-up: engines, tiers of generated code, lanes, workers. A right hash does not
 * show what computed it, so workers are watched from inside.
 */
import { HARNESS } from "../addresses.js";
import { expect, openHarness, start, test, type Harness } from "../browsers/test.js";
import type { Hashed } from "../harness/vectors.js";
import { serveHarness } from "../variants.js";
import { narrower, some, whole, widest, type Cell } from "./cells.js";
import { count, known, type KnownBatch } from "./known.js";
import { record } from "./proof.js";

/** A hash is a chain of this many programs. */
const PROGRAMS = 8;

for (const cell of widest) testCell(cell, []);
for (const cell of narrower) testCell(cell, ["@full"]);
for (const cell of whole) testCell(cell, ["@full"]);

function testCell(cell: Cell, tag: string[]): void {
  test(`${cell.name}: ${count(cell.batches)} known hashes`, { tag }, async ({ harness }) => {
    if (cell.batches === known) test.slow();
    const detected = await harness.call("detect");
    test.skip(cell.fused && !detected.fusedMultiplyAdd, "this browser rounds twice");
    const result = await hash(harness, cell.options, cell.batches);
    const { threads, lanes, engine } = cell.options;
    const features = { ...detected, fusedMultiplyAdd: cell.fused };
    expect(result.configuration).toMatchObject({ threads, lanes, engine, features });
    expectEngine(result, cell);
    // The batches fill all lanes of all workers.
    expect(Math.max(...result.workers.map(({ together }) => together))).toBe(lanes);
    expect(result.workers.filter(({ inputs }) => inputs > 0)).toHaveLength(threads);
  });
}

/** Expects that generated code of the configured tier ran, or none with the interpreter. */
function expectEngine({ workers, configuration }: Hashed, { batches }: Cell): void {
  const modules = workers.map(({ modules }) => modules);
  const total = (kind: "programs" | "fused" | "wide" | "items" | "fills"): number =>
    modules.reduce((sum, each) => sum + each[kind], 0);
  const { engine, threads, features } = configuration;

  expect(workers).toHaveLength(threads);
  const programs = engine === "jit" ? PROGRAMS * count(batches) : 0;
  expect(total("programs")).toBe(programs);
  if (engine === "jit") {
    // Nearly every program computes the high half of a product. One in seven rounds to the nearest
    // number only, which takes no fused instruction: it finds that mode and does not change it.
    for (const [kind, isUsed, part] of [
      ["fused", features.fusedMultiplyAdd, 0.8],
      ["wide", features.wideArithmetic, 0.9],
    ] as const) {
      expect(total(kind), kind).toBeGreaterThanOrEqual(isUsed ? part * programs : 0);
      expect(total(kind), kind).toBeLessThanOrEqual(isUsed ? programs : 0.1 * programs);
    }
  }

  // Generated code fills the cache and computes items with either engine; all workers share the cache.
  const keys = new Set(batches.map(({ key }) => key)).size;
  expect(total("items")).toBe(keys);
  expect(total("fills")).toBeGreaterThan(0);
  expect(workers.flatMap(({ caches }) => caches)).toEqual([features.sharedMemory]);
}

test("the configuration has the features that the harness detects", async ({ harness }) => {
  const detected = await harness.call("detect");
  const { configuration } = await hash(harness, { threads: 1 }, some(2));
  expect(configuration.features).toEqual(detected);
  expect(detected.sharedMemory).toBe(true);
});

test("asking for a missing feature fails", { tag: "@full" }, async ({ harness }) => {
  const { fusedMultiplyAdd, wideArithmetic } = await harness.call("detect");
  const missing = Object.entries({ fusedMultiplyAdd, wideArithmetic })
    .filter(([, isThere]) => !isThere)
    .map(([name]) => name);
  test.skip(missing.length === 0, "this browser has them all");
  for (const name of missing) {
    const asked = harness.call("hashes", { features: { [name]: true } }, []);
    await expect(asked).rejects.toThrow(`features.${name}: `);
  }
});

test(
  "without isolation there is one worker, with memory of its own",
  { tag: "@full" },
  async ({ alone }) => {
    await serveHarness(async (url) => {
      const harness = await openHarness(alone, url);
      const result = await hash(harness, { threads: 2 }, some(9));
      expect(result.configuration.threads).toBe(1);
      expect(result.configuration.features.sharedMemory).toBe(false);
      expect(result.workers.flatMap(({ caches }) => caches)).toEqual([false]);
      await harness.tab.close();
    });
  },
);

test(
  "128-bit products, which Chromium hides behind a flag",
  { tag: "@full" },
  async ({ engine }) => {
    test.skip(engine !== "chromium", "only Chromium's flag is known");
    const browser = await start(engine, { args: ["--js-flags=--wasm-wide-arithmetic"] });
    try {
      const harness = await openHarness(browser, HARNESS);
      expect((await harness.call("detect")).wideArithmetic).toBe(true);
      const [cell] = narrower;
      if (!cell) throw new Error("there is no cell");
      const result = await hash(harness, cell.options, cell.batches);
      expect(result.configuration.features.wideArithmetic).toBe(true);
      expectEngine(result, cell);
    } finally {
      await browser.close();
    }
  },
);

/** Hashes in watched workers, compares the hashes with the known ones, and records what ran. */
async function hash(
  harness: Harness,
  options: Parameters<typeof harness.call<"hashes">>[1],
  batches: KnownBatch[],
): Promise<Hashed> {
  const result = await harness.call("hashes", options, batches, { watched: true });
  expect(result.hashes).toEqual(batches.map(({ hashes }) => hashes));
  await record(harness, result.configuration, count(batches));
  return result;
}
