/** Looks for tasks that keep the main thread for more than 50 ms, which only Chromium reports. */
import { expect, test, type Page } from "@playwright/test";
import type { UnrecordedTab } from "./browsers/unrecorded.js";

/** The most attempts to use the page without a long task. */
const ATTEMPTS = 5;

/** A script that collects the milliseconds of long tasks. The browser reports those of at least 50 ms. */
const OBSERVE = `{
  const tasks = [];
  Object.assign(window, { tasks });
  new PerformanceObserver((list) => {
    tasks.push(...list.getEntries().map(({ duration }) => duration));
  }).observe({ type: "longtask", buffered: true });
}`;

/** An expression that takes what was collected. */
const TAKE = "window.tasks.splice(0)";

/**
 * Uses the page repeatedly until one attempt has no long task. `use` can call its argument when the part
 * begins that counts.
 */
export async function expectNoLongTask(
  page: Page,
  use: (begin: () => Promise<void>) => Promise<void>,
): Promise<void> {
  await page.addInitScript(OBSERVE);
  await expectAttempt(async () => {
    await page.goto("about:blank");
    await use(async () => {
      await page.evaluate(TAKE);
    });
    return page.evaluate(TAKE);
  });
}

/** Does the same in a tab whose traffic nothing records, which would take time of its own. */
export async function expectNoLongTaskIn(
  tab: UnrecordedTab,
  use: () => Promise<void>,
): Promise<void> {
  await tab.evaluate(OBSERVE);
  await expectAttempt(async () => {
    await tab.evaluate(TAKE);
    await use();
    return tab.evaluate(TAKE);
  });
}

async function expectAttempt(attempt: () => Promise<unknown>): Promise<void> {
  const attempts: number[][] = [];
  // A busy machine causes some long tasks; a page that blocks its thread causes one in every attempt.
  while (attempts.length < ATTEMPTS && attempts.at(-1)?.length !== 0) {
    attempts.push((await attempt()) as number[]);
  }
  test.info().annotations.push({ type: "long tasks, ms", description: JSON.stringify(attempts) });
  expect(attempts.at(-1), JSON.stringify(attempts)).toEqual([]);
}
