/**
 * Looks for tasks that keep the main thread for more than 50 ms of its own processor time, which only
 * Chromium's traces contain. On a busy machine the time on the clock says how long others had the processor.
 */
import { expect, test, type Browser, type Page } from "@playwright/test";
import type { UnrecordedTab } from "./browsers/unrecorded.js";

/** The most milliseconds of a task. */
const MOST = 50;

/** The most attempts to use the page without a long task. */
const ATTEMPTS = 5;

/** The name of the mark that shows which thread is the page's. */
const MARK = "watched";

/** The main threads' tasks, and the marks. */
const CATEGORIES = ["-*", "disabled-by-default-devtools.timeline", "blink.user_timing"];

/** An event of a trace, with its times in microseconds. */
interface TraceEvent {
  name: string;
  pid: number;
  tid: number;
  /** On the clock. */
  dur?: number;
  /** Of the thread's processor time. */
  tdur?: number;
}

/** Uses a page. It can call its argument when the part begins that counts. */
type Use = (begin: () => Promise<void>) => Promise<void>;

/** Uses the page repeatedly until one attempt has no long task. */
export async function expectNoLongTask(page: Page, use: Use): Promise<void> {
  await expectAttempt(async () => {
    await page.goto("about:blank");
    return longTasks(page, use);
  });
}

/** Does the same in a tab whose traffic nothing records, which would take time of its own. */
export async function expectNoLongTaskIn(
  browser: Browser,
  tab: UnrecordedTab,
  use: () => Promise<void>,
): Promise<void> {
  await expectAttempt(async () => tasksOver(MOST, browser, (script) => tab.evaluate(script), use));
}

/** Returns the milliseconds of processor time of the page's long tasks. */
export async function longTasks(page: Page, use: Use): Promise<number[]> {
  const browser = page.context().browser();
  if (!browser) throw new Error("the page has no browser");
  return tasksOver(MOST, browser, (script) => page.evaluate(script), use);
}

async function tasksOver(
  most: number,
  browser: Browser,
  evaluate: (script: string) => Promise<unknown>,
  use: Use,
): Promise<number[]> {
  const start = (): Promise<void> => browser.startTracing(undefined, { categories: CATEGORIES });
  await start();
  let trace: Buffer;
  try {
    await use(async () => {
      await browser.stopTracing();
      await start();
    });
    await evaluate(`{ performance.mark("${MARK}"); }`);
  } finally {
    trace = await browser.stopTracing();
  }
  const { traceEvents } = JSON.parse(trace.toString()) as { traceEvents: TraceEvent[] };
  const mark = traceEvents.find(({ name }) => name === MARK);
  const tasks = traceEvents.filter(
    ({ name, pid, tid }) => name === "RunTask" && pid === mark?.pid && tid === mark.tid,
  );
  // A trace without them shows nothing.
  if (tasks.every(({ tdur = 0 }) => tdur === 0))
    throw new Error("the trace has no processor times");
  return tasks.map(({ tdur = 0 }) => tdur / 1000).filter((ms) => ms > most);
}

async function expectAttempt(attempt: () => Promise<number[]>): Promise<void> {
  const attempts: number[][] = [];
  // The garbage collector may take longer once, and processors that others use have cold caches. A page that
  // blocks its thread does so in every attempt.
  while (attempts.length < ATTEMPTS && attempts.at(-1)?.length !== 0) {
    attempts.push(await attempt());
  }
  test.info().annotations.push({ type: "long tasks, ms", description: JSON.stringify(attempts) });
  expect(attempts.at(-1), JSON.stringify(attempts)).toEqual([]);
}
