/** Faults around the page, and the words that it shows for them. */
import { expect, test, type Page } from "@playwright/test";
import { headers } from "../../vite.config.js";
import { DEATHS, fillingWorker, report, verdictOf } from "./support.js";
import { serveWith } from "./variants.js";

const policy = headers["Content-Security-Policy"];

async function expectFailure(page: Page, words: RegExp): Promise<void> {
  const example = report(page);
  await expect(example).toHaveAttribute("data-state", "failed");
  await expect(verdictOf(example)).toHaveText(words);
}

test("the page works when this server is set up right", { tag: "@full" }, async ({ page }) => {
  await serveWith({}, async (url) => {
    await page.goto(url);
    await expect(report(page)).toHaveAttribute("data-state", "valid");
  });
});

for (const [fault, missing, words] of [
  [
    "no worker script",
    /worker-.*\.js$/u,
    /\(worker-failed: the worker script could not be loaded\)$/u,
  ],
  ["no WebAssembly file", /\.wasm$/u, /\(worker-failed: the WebAssembly module could not be/u],
] as const) {
  test(`${fault}: worker-failed`, { tag: "@full" }, async ({ page }) => {
    await serveWith({ missing }, async (url) => {
      await page.goto(url);
      await expectFailure(page, words);
    });
  });
}

test("a policy without workers: worker-failed", { tag: "@full" }, async ({ page }) => {
  const without = policy.replace("worker-src 'self'", "worker-src 'none'");
  await serveWith({ headers: { "Content-Security-Policy": without } }, async (url) => {
    await page.goto(url);
    await expectFailure(page, /\(worker-failed: the worker /u);
  });
});

for (const { name, die, words } of DEATHS) {
  test(
    `a worker that ${name}: another fills the cache; if it fails too, worker-failed, then a new worker`,
    { tag: "@full" },
    async ({ page }) => {
      await page.goto("/");
      const example = report(page);
      for (const death of ["first", "second"]) {
        await test.step(`the ${death} death`, async () => {
          await expect(example).toHaveAttribute("data-state", "filling");
          const worker = await fillingWorker(page);
          await Promise.all([worker.waitForEvent("close"), worker.evaluate(die)]);
        });
      }
      await expectFailure(page, /^The worker of this page stopped/u);
      await expectFailure(page, words);
      await page.getByRole("button", { name: "Verify again" }).click();
      await expect(example).toHaveAttribute("data-state", "valid");
    },
  );
}
