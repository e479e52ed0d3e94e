/**
 * Pictures of each view, in light and dark, on a desktop and on a phone, compared with those kept in
 * `pictures`. The tolerance allows another machine's fonts, and no other layout. After an intended
 * change, run this spec with `--update-snapshots`, look at the pictures, and reduce them to 32 colours.
 */
import { expect, test, type Page } from "@playwright/test";
import { report } from "./support.js";

const SIZES = {
  desktop: { width: 1280, height: 800 },
  phone: { width: 390, height: 844 },
};

/** What differs from run to run: times, and this machine's description. */
const CHANGING = [".task", '[data-place="hash-time"]', '[data-part="native"]', ".numbers"];

/** The address of each view, and when it is complete. */
const VIEWS: Record<string, { address: string; ready: (page: Page) => Promise<void> }> = {
  verify: {
    address: "/#/verify",
    ready: (page) => expect(report(page)).toHaveAttribute("data-state", "valid"),
  },
  compare: {
    address: "/#/compare",
    ready: (page) => expect(page.locator('[data-part="native"]')).toContainText("Native"),
  },
  bench: {
    address: "/#/bench",
    ready: (page) => expect(page.locator('[data-part="native"]')).toContainText("Native"),
  },
  explore: {
    address: "/#/explore?hashes=4",
    ready: (page) =>
      expect(page.locator('[data-part="status"]')).toContainText("distributions are of 4 hashes"),
  },
};

for (const [name, { address, ready }] of Object.entries(VIEWS)) {
  test(`${name} looks as it did`, { tag: "@full" }, async ({ page }) => {
    await page.goto(address);
    await ready(page);
    for (const [size, viewport] of Object.entries(SIZES)) {
      await page.setViewportSize(viewport);
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        await page.evaluate(() => {
          scrollTo(0, 0);
        });
        await expect(page).toHaveScreenshot(`${name}-${size}-${colorScheme}.png`, {
          mask: CHANGING.map((selector) => page.locator(selector)),
          maxDiffPixelRatio: 0.06,
          threshold: 0.3,
        });
      }
    }
  });
}
