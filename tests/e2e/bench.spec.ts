/** The view Bench: measuring the native build, for which one browser is enough. */
import { expect, test } from "@playwright/test";

test("the native parts are measured row by row", { tag: "@full" }, async ({ page }) => {
  await page.goto("/#/bench");
  await page.getByRole("button", { name: "Measure the native build" }).click();
  await expect(page.locator('[data-part="native-task"]')).toContainText("done", {
    timeout: 100_000,
  });
  for (const part of [
    "Hash",
    "Blake2b",
    "Argon2d",
    "Aes1R",
    "AesHash1R",
    "Superscalar",
    "Dataset",
  ]) {
    const native = page.locator(`[data-row="${part}"] td`).nth(2);
    await expect(native, part).toHaveText(/^[\d,.]+(?: light mode)?$/u);
  }
});
