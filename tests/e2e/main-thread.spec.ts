/** What the page takes of its visitor's patience: its main thread, and places that do not jump. */
import { expect, test, type Page } from "@playwright/test";
import { report } from "./support.js";

// A trace takes pictures of the page, in the page's own time.
test.use({ trace: "off" });

/** How often it is tried to load the page without a long task. */
const LOADS = 5;

/** Uses the page again and again until no task has taken long; tells of those of each time. */
async function expectNoLongTask(page: Page, use: () => Promise<void>): Promise<void> {
  await page.addInitScript(() => {
    const tasks: number[] = [];
    Object.assign(window, { tasks });
    // It hears of tasks from 50 ms on.
    new PerformanceObserver((list) => {
      tasks.push(...list.getEntries().map(({ duration }) => duration));
    }).observe({ type: "longtask", buffered: true });
  });
  const loads: number[][] = [];
  // The machine may be busy for a while; a page that blocks its thread does so every time.
  while (loads.length < LOADS && loads.at(-1)?.length !== 0) {
    await page.goto("about:blank");
    await use();
    loads.push(await page.evaluate(() => (window as unknown as { tasks: number[] }).tasks));
  }
  test.info().annotations.push({ type: "long tasks, ms", description: JSON.stringify(loads) });
  expect(loads.at(-1), JSON.stringify(loads)).toEqual([]);
}

test("stays responsive: no task of more than 50 ms on the main thread", async ({ page }) => {
  await expectNoLongTask(page, async () => {
    await page.goto("/");
    await expect(report(page)).toHaveAttribute("data-state", "valid");
    await expect(page.locator(".epoch")).toBeVisible();
  });
});

test("stays responsive while it looks inside a hash and draws", async ({ page }) => {
  await expectNoLongTask(page, async () => {
    await page.goto("/#/explore?hashes=4");
    await expect(page.locator('[data-part="status"]')).toContainText("distributions");
    await expect(page.locator('[data-part="function"] tbody tr').nth(400)).toBeAttached();
    await page.getByLabel("Register", { exact: true }).selectOption("e0");
    await expect(page.locator('[data-part="registers"] figcaption')).toContainText("e0");
  });
});

test("nothing jumps while a block is verified", async ({ page }) => {
  await page.addInitScript(() => {
    const moved = { total: 0 };
    Object.assign(window, { moved });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) moved.total += (entry as unknown as Shift).value;
    }).observe({ type: "layout-shift", buffered: true });
  });
  await page.goto("/");
  await expect(report(page)).toHaveAttribute("data-state", "valid");
  await expect(page.locator(".epoch")).toBeVisible();
  const total = await page.evaluate(
    () => (window as unknown as { moved: { total: number } }).moved.total,
  );
  // Below 0.1 counts as good, where 1 is a whole screen's content moved by a whole screen.
  expect(total).toBeLessThan(0.02);
});

/** What TypeScript's library does not know of yet. */
interface Shift {
  value: number;
}

test("a long task would be noticed", async ({ page }) => {
  await page.goto("/#/nothing");
  const longest = await page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        new PerformanceObserver((list) => {
          resolve(Math.max(...list.getEntries().map(({ duration }) => duration)));
        }).observe({ type: "longtask" });
        setTimeout(() => {
          const end = performance.now() + 120;
          while (performance.now() < end);
        });
      }),
  );
  expect(longest).toBeGreaterThan(50);
});
