/** The view Compare: native fast mode, and long tasks, which only Chromium reports. */
import { expect, test } from "@playwright/test";
import { expectNoLongTask } from "./long-tasks.js";

const RUN_TIMEOUT = { timeout: 90_000 };

test(
  "native fast mode starts for a key, and frees its memory",
  { tag: "@full" },
  async ({ page }) => {
    await page.goto("/#/compare?builds=native-fast&vectors=headers");
    await page.getByRole("button", { name: "Compare" }).click();
    const verdict = page.locator('[data-part="verdict"]');
    await expect(verdict).toHaveText("All 8 hashes are right: 8 vectors in 1 build.", RUN_TIMEOUT);
    const lanes = page.locator('[data-column="native-fast"] td').nth(3);
    await expect(lanes).toHaveText(/^[1-8]$/u);
    const info = await page.evaluate(async () => (await fetch("./api/info")).json() as unknown);
    expect(info).toMatchObject({ fast: { state: "off" } });
  },
);

test(
  "a tab that waits in vain for fast mode leaves the dataset of others alone",
  { tag: "@full" },
  async ({ page }) => {
    const methods: string[] = [];
    await page.route("**/api/fast", async (route) => {
      methods.push(route.request().method());
      await route.fulfill({ status: 429, json: { error: { code: "busy", message: "" } } });
    });
    await page.goto("/#/compare?builds=native-fast&vectors=headers");
    await page.getByRole("button", { name: "Compare" }).click();
    const verdict = page.locator('[data-part="verdict"]');
    await expect(verdict).toHaveText(
      "8 of 8 hashes could not be computed:" +
        " another tab or program uses fast mode; try again when it has finished.",
    );
    expect(methods).toEqual(["POST"]);
  },
);

test(
  "comparing keeps the page responsive: no task of more than 50 ms",
  { tag: "@full" },
  async ({ page }) => {
    await expectNoLongTask(page, async (begin) => {
      await page.goto("/#/compare?builds=browser-jit,native-jit&vectors=headers,blocks&threads=1");
      const button = page.getByRole("button", { name: "Compare" });
      await button.click({ trial: true });
      await begin();
      await button.click();
      const verdict = page.locator('[data-part="verdict"]');
      await expect(verdict).toHaveText(/^All 30 hashes/u, RUN_TIMEOUT);
    });
  },
);
