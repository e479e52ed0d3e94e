/** The page at a first visit. */
import { expect, test } from "@playwright/test";
import { headers, report } from "./support.js";

const [block] = headers.blocks;

test("shows progress while it verifies a block, and logs nothing", async ({ page }) => {
  const messages: string[] = [];
  page.on("console", (message) => messages.push(message.text()));
  page.on("pageerror", (error) => messages.push(String(error)));
  // Records every state of the bar.
  await page.addInitScript(() => {
    const seen: number[] = [];
    Object.assign(window, { seen });
    const look = (): void => {
      const bar = document.querySelector<HTMLProgressElement>("#report progress");
      if (bar && bar.value !== seen.at(-1)) seen.push(bar.value);
      requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  });
  await page.goto("/");

  await expect(report(page)).toHaveAttribute("data-state", "valid");
  await expect(report(page).locator(".verdict")).toHaveCSS("color", "rgb(23, 105, 63)");

  const seen = await page.evaluate(() => (window as unknown as { seen: number[] }).seen);
  expect(seen.length).toBeGreaterThan(5);
  expect(seen.at(-1)).toBe(1);
  expect(seen.filter((value) => value > 0 && value < 1).length).toBeGreaterThan(3);
  expect(seen).toEqual([...seen].sort((a, b) => a - b));
  expect(messages).toEqual([]);
});

test("reacts to input while the cache fills", async ({ page }) => {
  await page.goto("/#/nothing");
  await expect(page.locator('.view [role="alert"]')).toBeVisible();
  // From inside the page: a fill may end before this test sees it.
  const state = await page.evaluate(async () => {
    const until = async (selector: string): Promise<HTMLElement> => {
      for (;;) {
        const found = document.querySelector<HTMLElement>(selector);
        if (found) return found;
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    };
    location.hash = "#/verify";
    const report = await until('#report[data-state="filling"]');
    (await until('a[data-from="paste"]')).click();
    await until("#from-paste:not([hidden])");
    (await until("#fill")).click();
    return report.dataset.state;
  });
  expect(state).toBe("filling");
  const difficulty = page.getByLabel("Difficulty");
  const before = await difficulty.inputValue();
  expect(before).toMatch(/^\d+$/u);
  await difficulty.press("End");
  await difficulty.press("0");
  await expect(difficulty).toHaveValue(`${before}0`);
});

test("results can be copied, saved, and opened again", async ({ page }) => {
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.goto("/#/verify?block=3727300");
  await expect(report(page)).toHaveAttribute("data-state", "valid");
  const pasted = (): Promise<string> => page.evaluate(() => navigator.clipboard.readText());
  await page.getByRole("button", { name: "Copy the hash" }).click();
  await expect.poll(pasted).toBe(block?.pow_hash);
  await page.getByRole("button", { name: "Copy link" }).click();
  await expect.poll(pasted).toMatch(/#\/verify\?block=3727300$/u);
  await page.getByRole("button", { name: "Copy result" }).click();
  await expect.poll(pasted).toContain('"proof-of-work"');

  const id = page.getByLabel("Id", { exact: true });
  const reopen = async (): Promise<void> => {
    const saved = page.waitForEvent("download");
    await page.getByRole("button", { name: "Save as JSON" }).click();
    const file = await (await saved).path();
    await page.getByRole("link", { name: "Paste or drop" }).click();
    await page.getByLabel("Block", { exact: true }).fill("");
    await page.locator("#file").setInputFiles(file);
    await expect(page.getByLabel("Block", { exact: true })).toHaveValue(block?.hashing_blob ?? "");
    await expect(report(page)).toContainText("The block from the form");
    await expect(report(page)).toHaveAttribute("data-state", "valid");
  };
  await reopen();
  await expect(id).toHaveValue(block?.id ?? "");

  // The result's own hash is no claim about the id.
  await id.fill("");
  await page.getByRole("button", { name: "Verify", exact: true }).click();
  await expect(report(page)).toHaveAttribute("data-state", "valid");
  await reopen();
  await expect(id).toHaveValue("");
});

test(
  "an example that loads late does not replace the visitor's block",
  { tag: "@full" },
  async ({ page }) => {
    let open = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    await page.route("**/mainnet-blocks-*.json", async (route) => {
      await gate;
      await route.continue();
    });
    const loaded = page.waitForResponse(/mainnet-blocks/u);
    await page.goto("/");
    await page.getByRole("link", { name: "Paste or drop" }).click();
    await page.getByRole("button", { name: "Fill in an example" }).click();
    await page.getByLabel("Block", { exact: true }).fill("ff".repeat(200));
    await page.getByRole("button", { name: "Verify", exact: true }).click();
    await expect(report(page)).toHaveAttribute("data-state", "invalid");
    open();
    await (await loaded).finished();
    await page.waitForTimeout(300);
    await expect(report(page)).toHaveAttribute("data-state", "invalid");
    await expect(report(page)).toContainText("The block from the form");
  },
);
