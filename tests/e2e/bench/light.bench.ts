/**
 * Times the package in a browser: `npm run bench:web`. Rounds take their measurements in turn;
 * the medians and ranges are printed, in milliseconds for one hash, cache or page.
 */
import { expect, test, type Page } from "@playwright/test";
import { openHarness, verification } from "../support.js";

const ROUNDS = 5;

test("light mode, interpreter", async ({ page, browser }) => {
  const times = new Map<string, number[]>();
  const add = (name: string, ms: number): void => {
    times.set(name, [...(times.get(name) ?? []), ms]);
  };
  for (let round = 0; round < ROUNDS; round += 1) {
    add("page load to verified block", await coldStart(page));
    for (const [name, ms] of await measurePackage(page, round)) add(name, ms);
  }
  console.log(`${browser.browserType().name()} ${browser.version()}, ${ROUNDS.toString()} rounds`);
  console.table(Object.fromEntries([...times].map(([name, ms]) => [name, summary(ms)])));
});

/** From the request for the page to the verdict on its block, with nothing held before. */
async function coldStart(page: Page): Promise<number> {
  await page.goto("about:blank");
  const start = performance.now();
  await page.goto("/");
  await expect(verification(page, "example")).toHaveAttribute("data-state", "valid");
  return performance.now() - start;
}

/** The package's own calls, timed in the page. */
async function measurePackage(page: Page, round: number): Promise<[string, number][]> {
  await openHarness(page);
  return page.evaluate(async (round) => {
    const randomx = await window.harness.RandomX.create();
    const results: [string, number][] = [];
    const time = async (
      name: string,
      count: number,
      run: () => Promise<unknown>,
    ): Promise<void> => {
      const start = performance.now();
      await run();
      results.push([name, (performance.now() - start) / count]);
    };
    const key = Uint8Array.of(round);
    const inputs = Array.from({ length: 64 }, (_, index) => Uint8Array.of(round, index));
    await time("cache init", 1, () => randomx.prepare(key));
    await randomx.hashMany(key, inputs.slice(0, 1));
    for (const version of [1, 2] as const) {
      for (const count of [1, 8, 64]) {
        const batch = inputs.slice(0, count);
        const run = (): Promise<unknown> => randomx.hashMany(key, batch, { version });
        await time(`hash, v${version.toString()}, ${count.toString()} in a batch`, count, run);
      }
    }
    randomx.dispose();
    return results;
  }, round);
}

function summary(values: number[]): { median: number; least: number; most: number } {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (part: number): number =>
    Number((sorted[Math.floor(part * (sorted.length - 1))] ?? Number.NaN).toFixed(1));
  return { median: at(0.5), least: at(0), most: at(1) };
}
