/** Batches just after a key has changed, by each choice of an engine. */
import type { Browser } from "../browsers/browser.js";
import { openHarness } from "../browsers/test.js";
import type { Choice } from "../harness/batches.js";
import { median, type Measurements, type Row } from "./rows.js";

const CHOICES: Choice[] = ["auto", "jit", "interpreter"];

/** The hashes in a batch. */
const SIZES = [1, 2, 4, 8, 16, 64];

/** Times each batch is measured in a tab. */
const TURNS = 3;

/** Measures them in one tab, with one worker. */
export async function addBatches(
  browser: Browser,
  label: string,
  measurements: Measurements,
  round: number,
): Promise<void> {
  const harness = await openHarness(browser);
  for (let turn = 0; turn < TURNS; turn += 1) {
    const number = round * TURNS + turn;
    const times = await harness.call("measureBatches", { threads: 1 }, CHOICES, SIZES, number);
    for (const [index, size] of SIZES.entries()) {
      for (const [choice, engine] of CHOICES.entries()) {
        const at = { browser: label, engine, tier: "auto", threads: 1, lanes: 8, what: what(size) };
        measurements.add(at, times[index]?.[choice] ?? Number.NaN);
      }
    }
  }
  await harness.tab.close();
}

function what(size: number): string {
  return `hash, v1, ${size} in a batch after another key`;
}

/** Returns a line for each browser: how many times as long `auto` takes as the better engine, by size. */
export function choices(rows: readonly Row[]): string[] {
  const browsers = new Set(
    rows.filter((row) => row.what === what(1)).map(({ browser }) => browser),
  );
  return [...browsers].map((browser) => {
    const ratios = SIZES.map((size) => {
      const of = (engine: Choice): number =>
        rows.find(
          (row) => row.browser === browser && row.engine === engine && row.what === what(size),
        )?.ms ?? Number.NaN;
      return of("auto") / Math.min(of("jit"), of("interpreter"));
    });
    const listed = ratios.map((ratio, index) => `${SIZES[index]}: ${ratio.toFixed(2)}`).join(", ");
    return `auto against the better engine, ${browser}: ${listed}; median ${median(ratios).toFixed(2)}`;
  });
}
