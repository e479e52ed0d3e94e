/** Tells, after all specs, what ran in which browser, and fails a run in which something did not. */
import type { FullConfig, FullResult, Reporter, TestCase } from "@playwright/test/reporter";
import { grid, whole } from "./engine/cells.js";
import { count } from "./engine/known.js";
import { RAN, type Ran } from "./engine/proof.js";

/** Projects whose specs run in one browser each. */
const ENGINE = /^engine-(.*)$/u;

export default class ProofReporter implements Reporter {
  readonly #tests = new Set<TestCase>();
  #browsers: string[] = [];

  onBegin(config: FullConfig): void {
    // A run of chosen projects or specs is for its reader; the whole one has to be whole.
    if (process.env.E2E_WHOLE !== "1") return;
    this.#browsers = config.projects.flatMap(({ name }) => ENGINE.exec(name)?.[1] ?? []);
  }

  onTestEnd(test: TestCase): void {
    this.#tests.add(test);
  }

  // eslint-disable-next-line @typescript-eslint/require-await -- the interface's type wants it
  async onEnd(result: FullResult): Promise<{ status: FullResult["status"] }> {
    const passed = [...this.#tests].filter((test) => test.outcome() !== "unexpected");
    const ran = passed.flatMap((test) => notes(test));
    if (ran.length > 0) console.log(`\nKnown hashes that were right:\n${table(ran)}`);
    const missing = this.#browsers.flatMap((browser) =>
      lacks(ran.filter((each) => each.browser === browser)).map((what) => `${browser}: ${what}`),
    );
    for (const each of missing) console.log(`did not run: ${each}`);
    return { status: missing.length > 0 ? "failed" : result.status };
  }

  printsToStdio(): boolean {
    return false;
  }
}

/** What the last, passed, try of a test noted. */
function notes(test: TestCase): Ran[] {
  const last = test.results.at(-1);
  if (last?.status !== "passed") return [];
  return last.annotations
    .filter(({ type }) => type === RAN)
    .map(({ description }) => JSON.parse(description ?? "") as Ran);
}

/** What one browser's notes lack of what every browser has to run. */
function lacks(ran: readonly Ran[]): string[] {
  // Another test holds that against what the browser can do.
  const canFuse = ran.some(isFused);
  const cells = [...whole, ...grid].filter(({ options, fused, batches }) => {
    if (fused && !canFuse) return false;
    const { engine, threads, lanes } = options;
    return !ran.some(
      (each) =>
        each.engine === engine &&
        each.threads === threads &&
        each.lanes === lanes &&
        each.hashes === count(batches) &&
        isFused(each) === fused,
    );
  });
  return [...(ran.length > 0 ? [] : ["anything"]), ...cells.map(({ name }) => name)];
}

function isFused({ tier }: Ran): boolean {
  return tier.startsWith("fused");
}

/** One line for each browser, engine and tier. */
function table(ran: readonly Ran[]): string {
  const groups = new Map<string, Ran[]>();
  for (const each of ran) {
    const name = `${each.browser} ${each.version}: ${each.engine}, ${each.tier}`;
    groups.set(name, [...(groups.get(name) ?? []), each]);
  }
  const list = (values: number[]): string => [...new Set(values)].sort((a, b) => a - b).join(", ");
  const lines = [...groups].map(([name, group]) => {
    const lanes = list(group.map(({ lanes }) => lanes));
    const threads = list(group.map(({ threads }) => threads));
    const hashes = group.reduce((sum, each) => sum + each.hashes, 0);
    return `  ${name}: lanes ${lanes}; workers ${threads}; ${hashes} hashes`;
  });
  return lines.sort().join("\n");
}
