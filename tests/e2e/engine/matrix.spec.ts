/**
 * Known hashes in every set-up that can be chosen: engines, tiers, lanes, workers. Workers
 * are watched from inside, because a right hash does not tell what made it.
 */
import type { Configuration } from "../../../wasm/js/index.js";
import { HARNESS } from "../addresses.js";
import { expect, openHarness, start, test, type Harness } from "../browsers/test.js";
import type { Hashed } from "../harness/vectors.js";
import { serveHarness } from "../variants.js";
import { grid, some, whole, type Cell } from "./cells.js";
import { count, type KnownBatch } from "./known.js";
import { note } from "./proof.js";

/** A hash is a chain of this many programs. */
const PROGRAMS = 8;

for (const cell of [...whole, ...grid]) {
  test(`${cell.name}: ${count(cell.batches)} known hashes`, async ({ harness }) => {
    const detected = await harness.call("detect");
    // Its own name would be untrue, and the same cell runs by its true name.
    test.skip(cell.fused && !detected.fusedMultiplyAdd, "this browser rounds twice");
    const result = await run(harness, cell.options, cell.batches);
    const { threads, lanes, engine } = cell.options;
    const features = { ...detected, fusedMultiplyAdd: cell.fused };
    expect(result.configuration).toMatchObject({ threads, lanes, engine, features });
    expectMachine(result, cell);
    // The batches fill all lanes of all workers.
    expect(Math.max(...result.workers.map(({ together }) => together))).toBe(lanes);
    expect(result.workers.filter(({ inputs }) => inputs > 0)).toHaveLength(threads);
  });
}

/** Whether the generated code was what ran, in its tier; or none, for the interpreter. */
function expectMachine({ workers, configuration }: Hashed, { batches }: Cell): void {
  const modules = workers.map(({ modules }) => modules);
  const total = (what: "programs" | "fused" | "wide" | "items" | "fills"): number =>
    modules.reduce((sum, each) => sum + each[what], 0);
  const { engine, threads, features } = configuration;

  expect(workers).toHaveLength(threads);
  const programs = engine === "jit" ? PROGRAMS * count(batches) : 0;
  expect(total("programs")).toBe(programs);
  if (engine === "jit") {
    const most = (ran: boolean): [number, number] =>
      ran ? [0.9 * programs, programs] : [0, 0.1 * programs];
    for (const [what, ran] of [
      ["fused", features.fusedMultiplyAdd],
      ["wide", features.wideArithmetic],
    ] as const) {
      const [least, greatest] = most(ran);
      expect(total(what), what).toBeGreaterThanOrEqual(least);
      expect(total(what), what).toBeLessThanOrEqual(greatest);
    }
  }

  // The cache and its items are generated code's with every engine; all workers share them.
  const keys = new Set(batches.map(({ key }) => key)).size;
  expect(total("items")).toBe(keys);
  expect(total("fills")).toBeGreaterThan(0);
  expect(workers.flatMap(({ caches }) => caches)).toEqual([features.sharedMemory]);
}

test("what is detected is what there is", async ({ harness }) => {
  const detected = await harness.call("detect");
  const { configuration } = await run(harness, { threads: 1 }, some(2));
  expect(configuration.features).toEqual(detected);
  expect(detected.sharedMemory).toBe(true);
});

test("what is not there cannot be asked for", async ({ harness }) => {
  const { fusedMultiplyAdd, wideArithmetic } = await harness.call("detect");
  const missing = Object.entries({ fusedMultiplyAdd, wideArithmetic })
    .filter(([, there]) => !there)
    .map(([name]) => name);
  for (const name of missing) {
    const asked = harness.call("hashes", { features: { [name]: true } }, []);
    await expect(asked).rejects.toThrow(/unsupported|is lacking|not/u);
  }
});

test("without isolation: one worker, memory of its own", async ({ started }) => {
  await serveHarness(async (url) => {
    const harness = await openHarness(started, url);
    const result = await run(harness, { threads: 2 }, some(9));
    expect(result.configuration.threads).toBe(1);
    expect(result.configuration.features.sharedMemory).toBe(false);
    expect(result.workers.flatMap(({ caches }) => caches)).toEqual([false]);
    await harness.tab.close();
  });
});

test("products of 128 bits, which Chromium hides behind a flag", async ({ engine }) => {
  test.skip(engine !== "chromium", "only Chromium's flag is known");
  const browser = await start(engine, { args: ["--js-flags=--wasm-wide-arithmetic"] });
  try {
    const harness = await openHarness(browser, HARNESS);
    expect((await harness.call("detect")).wideArithmetic).toBe(true);
    const [cell] = grid;
    if (!cell) throw new Error("there is no cell");
    const result = await run(harness, cell.options, cell.batches);
    expect(result.configuration.features.wideArithmetic).toBe(true);
    expectMachine(result, cell);
  } finally {
    await browser.close();
  }
});

/** Hashes, compares, and notes what ran. */
async function run(
  harness: Harness,
  options: Parameters<typeof harness.call<"hashes">>[1],
  batches: KnownBatch[],
): Promise<Hashed> {
  const result = await harness.call("hashes", options, batches, { watched: true });
  expect(result.hashes).toEqual(batches.map(({ hashes }) => hashes));
  note(harness, result.configuration satisfies Configuration, count(batches));
  return result;
}
