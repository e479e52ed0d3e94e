/** Prints what ran in which browser, and fails a whole run that lacks what its tier requires. */
import { existsSync, readFileSync } from "node:fs";
import type { FullConfig, FullResult, Reporter, TestCase } from "@playwright/test/reporter";
import type { BrowserName } from "./browsers/browser.js";
import { requiredCells, requiresEveryHash } from "./engine/cells.js";
import { count, known } from "./engine/known.js";
import { RAN, type Ran } from "./engine/proof.js";
import { chosenTier } from "./tiers.js";

/** The projects that run the engine's specs, one for each browser. */
const ENGINE = /^engine-(.*)$/u;

export default class ProofReporter implements Reporter {
  readonly #tests = new Set<TestCase>();
  #browsers: BrowserName[] = [];

  onBegin(config: FullConfig): void {
    // A run of chosen projects or specs need not be whole.
    if (process.env.E2E_WHOLE !== "1") return;
    this.#browsers = config.projects.flatMap(
      ({ name }) => (ENGINE.exec(name)?.[1] ?? []) as BrowserName[],
    );
  }

  onTestEnd(test: TestCase): void {
    this.#tests.add(test);
  }

  // eslint-disable-next-line @typescript-eslint/require-await -- the interface's type demands it
  async onEnd(result: FullResult): Promise<{ status: FullResult["status"] }> {
    const passed = [...this.#tests].filter((test) => test.outcome() !== "unexpected");
    const ran = passed.flatMap((test) => records(test));
    if (ran.length > 0) console.log(`\nKnown hashes that were right:\n${table(ran)}`);
    const missing = this.#browsers.flatMap((browser) =>
      missingIn(
        browser,
        ran.filter((each) => each.browser === browser),
      ).map((name) => `${browser}: ${name}`),
    );
    for (const each of missing) console.log(`did not run: ${each}`);
    return { status: missing.length > 0 ? "failed" : result.status };
  }

  printsToStdio(): boolean {
    return false;
  }
}

/** Returns the records of a test's last try, if that passed. */
function records(test: TestCase): Ran[] {
  const last = test.results.at(-1);
  if (last?.status !== "passed") return [];
  return last.annotations
    .filter(({ type }) => type === RAN)
    .map(({ description }) => JSON.parse(description ?? "") as Ran);
}

/** Returns what a browser has to run in this tier and did not. */
function missingIn(browser: BrowserName, ran: readonly Ran[]): string[] {
  const tier = chosenTier();
  if (ran.length === 0) return ["anything"];
  const canFuse = ran.some((each) => each.canFuse);
  if (!canFuse && fuses(browser)) return ["fused multiply-add"];
  const cells = requiredCells(tier).filter(({ options, fused, batches }) => {
    if (fused && !canFuse) return false;
    const { engine, threads, lanes } = options;
    return !ran.some(
      (each) =>
        each.engine === engine &&
        each.threads === threads &&
        each.lanes === lanes &&
        each.hashes === count(batches) &&
        each.tier.startsWith("fused") === fused,
    );
  });
  const all = ran.some(({ hashes }) => hashes === count(known));
  return [
    ...cells.map(({ name, batches }) => `${name}, ${count(batches)} hashes`),
    ...(requiresEveryHash(tier, browser) && !all ? ["every known hash"] : []),
  ];
}

/** Whether a browser is known to have fused multiply-add on this processor. WebKitGTK has no relaxed SIMD. */
function fuses(browser: BrowserName): boolean {
  if (browser === "webkit") return false;
  if (process.arch === "arm64") return true;
  return existsSync(PROCESSORS) && /\bfma\b/u.test(readFileSync(PROCESSORS, "utf8"));
}

/** Linux's list of processors and their instructions. */
const PROCESSORS = "/proc/cpuinfo";

/** Formats one line for each browser, engine and tier of generated code. */
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
