/** A browser that limits WebAssembly memory to 128 MiB, less than a cache. */
import { expect, test } from "@playwright/test";
import { openHarness, report, verdictOf } from "./support.js";

const PAGES_PER_MIB = 16;
test.use({
  launchOptions: async ({ launchOptions }, use) => {
    const limit = `--js-flags=--wasm-max-mem-pages=${128 * PAGES_PER_MIB}`;
    await use({ ...launchOptions, args: [...(launchOptions.args ?? []), limit] });
  },
});

test(
  "the page reports it, and again when it is asked again",
  { tag: "@full" },
  async ({ page }) => {
    await page.goto("/");
    const example = report(page);
    const expectFailure = async (): Promise<void> => {
      await expect(example).toHaveAttribute("data-state", "failed");
      await expect(verdictOf(example)).toHaveText(
        /^There is not enough memory .* 256 MiB.* \(out-of-memory: /u,
      );
    };
    await expectFailure();
    // Cleared: the second try must write them again.
    await verdictOf(example).evaluate((verdict) => {
      verdict.textContent = "";
    });
    await example.evaluate((report) => {
      report.removeAttribute("data-state");
    });
    await page.getByRole("button", { name: "Verify again" }).click();
    await expectFailure();
  },
);

test(
  "the package has a code for it, and the instance stays usable",
  { tag: "@full" },
  async ({ page }) => {
    await openHarness(page);
    const { codes, seedHeight } = await page.evaluate(async () => {
      const randomx = await window.harness.RandomX.create({ threads: 1 });
      const code = (promise: Promise<unknown>): Promise<string> =>
        promise.then(
          () => "done",
          (error: unknown) =>
            error instanceof window.harness.RandomXError ? error.code : String(error),
        );
      const codes = [
        await code(randomx.prepare("00")),
        await code(randomx.hash("00", "00")),
        await code(randomx.commitment("00", "00".repeat(32))),
        await code(randomx.prepare("01")),
      ];
      return { codes, seedHeight: await randomx.seedHeight(2113) };
    });
    expect(codes).toEqual(["out-of-memory", "out-of-memory", "done", "out-of-memory"]);
    expect(seedHeight).toBe(2048);
    expect(page.workers()).toHaveLength(1);
  },
);
