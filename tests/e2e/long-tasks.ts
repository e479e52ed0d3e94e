/** Looks for tasks that keep the main thread for more than 50 ms, which only Chromium reports. */
import { expect, test, type Page } from "@playwright/test";

/** The most attempts to use the page without a long task. */
const ATTEMPTS = 5;

/**
 * Uses the page repeatedly until one attempt has no long task. `use` can call its argument when the part
 * begins that counts.
 */
export async function expectNoLongTask(
  page: Page,
  use: (begin: () => Promise<void>) => Promise<void>,
): Promise<void> {
  await page.addInitScript(() => {
    const tasks: number[] = [];
    Object.assign(window, { tasks });
    // The browser reports tasks of at least 50 ms.
    new PerformanceObserver((list) => {
      tasks.push(...list.getEntries().map(({ duration }) => duration));
    }).observe({ type: "longtask", buffered: true });
  });
  const take = (): Promise<number[]> =>
    page.evaluate(() => (window as unknown as { tasks: number[] }).tasks.splice(0));
  const attempts: number[][] = [];
  // A busy machine causes some long tasks; a page that blocks its thread causes one in every attempt.
  while (attempts.length < ATTEMPTS && attempts.at(-1)?.length !== 0) {
    await page.goto("about:blank");
    await use(async () => {
      await take();
    });
    attempts.push(await take());
  }
  test.info().annotations.push({ type: "long tasks, ms", description: JSON.stringify(attempts) });
  expect(attempts.at(-1), JSON.stringify(attempts)).toEqual([]);
}
