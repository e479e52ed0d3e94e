/** The view Bench: measuring the native build, for which one browser is enough. */
import { expect, test } from "@playwright/test";

test("the native parts are measured row by row", { tag: "@full" }, async ({ page }) => {
  await page.goto("/#/bench");
  await page.getByRole("button", { name: "Measure the native build" }).click();
  await expect(page.locator('[data-part="native-task"] [role="status"]')).toHaveText("done", {
    timeout: 100_000,
  });
  for (const [part, how] of [
    ["Hash", /^[\d,.]+ v1 light, \d+ threads?$/u],
    ["Blake2b", /^[\d,.]+$/u],
    ["Argon2d", /^[\d,.]+$/u],
    ["Aes1R", /^[\d,.]+$/u],
    ["AesHash1R", /^[\d,.]+$/u],
    ["Superscalar", /^[\d,.]+$/u],
    ["Dataset", /^[\d,.]+ \d+ threads?$/u],
  ] as const) {
    const native = page.locator(`[data-row="${part}"] td`).nth(2);
    await expect(native, part).toHaveText(how);
  }
});

test(
  "the browser's rate is shown if the native build fails",
  { tag: "@full" },
  async ({ page }) => {
    let asked: unknown;
    await page.route("**/api/hash", (route) => {
      asked = route.request().postDataJSON();
      return route.abort();
    });
    await page.goto("/#/bench?threads=1&seconds=1");
    await expect(page.locator('[data-part="measure-native"]:not([aria-disabled])')).toBeVisible();
    await page.locator(".bench-form [type=submit]").click();
    await expect(page.locator('[data-part="task"] .problem')).toBeVisible({ timeout: 90_000 });
    await expect(page.locator('[data-part="verdict"]')).toHaveText(
      /^RandomX v1: [\d.]+ hashes per second in this browser .*\. The native build was not measured to the end\.$/u,
    );
    // The server knows whether machine code can run.
    expect(asked).toMatchObject({ engine: "auto" });
  },
);
