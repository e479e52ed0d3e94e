/** A browser without the instructions that WebAssembly's SIMD needs. */
import { expect, test } from "@playwright/test";
import { report, verdictOf } from "./support.js";

test.use({
  launchOptions: async ({ launchOptions }, use) => {
    const without = "--js-flags=--no-enable-ssse3 --no-enable-sse4-1 --no-enable-avx";
    await use({ ...launchOptions, args: [...(launchOptions.args ?? []), without] });
  },
});

test.skip(process.arch !== "x64", "only x64 builds of V8 can disable these instructions");

test("the page reports what it needs", { tag: "@full" }, async ({ page }) => {
  await page.goto("/");
  const example = report(page);
  await expect(example).toHaveAttribute("data-state", "failed");
  await expect(verdictOf(example)).toHaveText(
    /^This browser cannot run the check\..* \(unsupported: .*SIMD/u,
  );
});
