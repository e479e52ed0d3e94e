/** The page in forced colours and on paper. Only Playwright's Chromium emulates these. */
import { expect, test, type Page } from "@playwright/test";

/** The printed width of a sheet of A4 with Chromium's margins, in CSS pixels. */
const PAPER = { width: 718, height: 1000 };

/** A hash fills a cache, on a machine that may be busy. */
const timeout = 90_000;

/** Expects that nothing is cut off, and that nothing stands there that only works on a screen. */
async function expectPrintable(page: Page): Promise<void> {
  await page.setViewportSize(PAPER);
  await page.emulateMedia({ media: "print", colorScheme: "dark", forcedColors: "none" });
  const cut = await page.evaluate(() =>
    [...document.querySelectorAll(".scroll, td input")]
      .filter(
        ({ scrollWidth, scrollHeight, clientWidth, clientHeight }) =>
          scrollWidth > clientWidth || scrollHeight > clientHeight,
      )
      .map(({ outerHTML }) => outerHTML.slice(0, 200)),
  );
  expect(cut).toEqual([]);
  await expect(page.locator("nav, button, progress").filter({ visible: true })).toHaveCount(0);
  const [colour, stuck] = await page.evaluate(() => [
    getComputedStyle(document.body).color,
    [...document.querySelectorAll("main *")].filter(
      (each) => getComputedStyle(each).position === "sticky",
    ).length,
  ]);
  expect(colour).toBe("rgb(26, 33, 29)");
  expect(stuck).toBe(0);
}

test("Explore in forced colours and on paper", { tag: "@full" }, async ({ page }) => {
  await page.emulateMedia({ forcedColors: "active" });
  await page.goto("/#/explore?hashes=4");
  await expect(page.locator('[data-part="status"]')).toContainText("distributions", { timeout });
  const lines = await page.evaluate(() => {
    const canvas = getComputedStyle(document.body).backgroundColor;
    return [...document.querySelectorAll<HTMLElement>('[data-part="listing"] tbody tr')].map(
      (row) => {
        const number = row.querySelector("th");
        if (!number) throw new Error("a row has no number");
        return {
          isRepeated: row.dataset.loop !== undefined,
          isMarked: getComputedStyle(number).borderInlineStartColor !== canvas,
          isNamed: number.textContent.endsWith(", repeated"),
        };
      },
    );
  });
  const repeated = lines.filter(({ isRepeated }) => isRepeated);
  expect(repeated.length).toBeGreaterThan(0);
  expect(repeated.length).toBeLessThan(lines.length);
  for (const line of lines) {
    const { isRepeated } = line;
    expect(line).toEqual({ isRepeated, isMarked: isRepeated, isNamed: isRepeated });
  }
  const swatches = await page
    .locator(".legend li")
    .evaluateAll((entries) =>
      entries.map((entry) => getComputedStyle(entry, "::before").backgroundColor),
    );
  expect(swatches.length).toBeGreaterThan(1);
  expect(new Set(swatches).size).toBe(swatches.length);

  await expectPrintable(page);
});

test("Compare on paper", { tag: "@full" }, async ({ page }) => {
  await page.goto("/#/compare?builds=browser-jit&vectors=headers&threads=1&lanes=8&times=no");
  await page.locator(".compare-form [type=submit]").click();
  await expect(page.locator('[data-part="verdict"]')).toContainText("All 8", { timeout });
  await expectPrintable(page);
});
