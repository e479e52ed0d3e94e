/** The page's responsiveness: no long tasks, and no layout shifts. */
import { expect, test } from "@playwright/test";
import { ATTACKS } from "../node/chain/attacks.js";
import { attacked } from "./attacked.js";
import { unrecordedChromium } from "./browsers/unrecorded.js";
import { expectNoLongTask, expectNoLongTaskIn, longTasks } from "./long-tasks.js";
import { report } from "./support.js";
import { chosenTier } from "./tiers.js";

// Recording a trace takes time on the main thread.
test.use({ trace: "off" });

/** Returns whether the page has verified its block. It runs in the page. */
function isVerified(): boolean {
  const isValid = document.querySelector<HTMLElement>("#report")?.dataset.state === "valid";
  return isValid && document.querySelector(".epoch")?.checkVisibility() === true;
}

test("no task of more than 50 ms while a block is verified", async ({ page }) => {
  await expectNoLongTask(page, async () => {
    await page.goto("/");
    // An `expect` would look again and again, in tasks of the page's thread that take up to 90 ms.
    await page.waitForFunction(isVerified);
  });
});

test(
  "no task of more than 50 ms while a hash is explored and drawn",
  { tag: "@full" },
  async ({ page }) => {
    await expectNoLongTask(page, async () => {
      await page.goto("/#/explore?hashes=4");
      await expect(page.locator('[data-part="status"]')).toContainText("distributions");
      await expect(page.locator('[data-part="function"] tbody tr').nth(400)).toBeAttached();
      await page.getByLabel("Register", { exact: true }).selectOption("e0");
      await expect(page.locator('[data-part="registers"] figcaption')).toContainText("e0");
    });
  },
);

// One after the other in one tab, because opening a tab takes longer than an attack.
test("no task of more than 50 ms while sources attack", async ({ browser }) => {
  await attacked(unrecordedChromium(browser), async (tab, suffer) => {
    for (const attack of chosenTier() === "full" ? ATTACKS : ["largest"]) {
      await test.step(attack, () => expectNoLongTaskIn(browser, tab, () => suffer(attack)));
    }
  });
});

test("the layout does not shift while a block is verified", async ({ page }) => {
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
  // Below 0.1 counts as good; 1 is the whole screen moved by its own height.
  expect(total).toBeLessThan(0.02);
});

/** The entry's type, which TypeScript's library lacks. */
interface Shift {
  value: number;
}

test("a long task is found", async ({ page }) => {
  await page.goto("/#/nothing");
  const found = await longTasks(page, async () => {
    await page.evaluate(
      () =>
        new Promise<void>((resolve) => {
          setTimeout(() => {
            const end = performance.now() + 600;
            while (performance.now() < end);
            resolve();
          });
        }),
    );
  });
  expect(found).not.toEqual([]);
});
