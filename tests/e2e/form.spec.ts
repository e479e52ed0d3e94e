/** The form: any block, right or wrong, and every field's own complaint. */
import { expect, test, type Page } from "@playwright/test";
import { headers, verification } from "./support.js";

const [, other] = headers.blocks;
const good = {
  "Seed hash": headers.seed_hash,
  "Hashing blob": other?.hashing_blob ?? "missing",
  Difficulty: other?.difficulty ?? "missing",
};

async function submit(page: Page, fields: Record<string, string>): Promise<void> {
  for (const [label, text] of Object.entries(fields)) await page.getByLabel(label).fill(text);
  await page.getByRole("button", { name: "Verify", exact: true }).click();
}

/** Opens the page and lets the block on top be done, so that the form's answer is quick. */
async function openQuiet(page: Page): Promise<void> {
  await page.goto("/");
  await expect(verification(page, "example")).toHaveAttribute("data-state", "valid");
}

test("another block is verified", async ({ page }) => {
  await openQuiet(page);
  await submit(page, good);
  const form = verification(page, "form");
  await expect(form).toHaveAttribute("data-state", "valid");
  await expect(form.getByRole("status")).toHaveText(/^Verified/);
  await expect(form).toContainText(other?.pow_hash ?? "missing");
});

test("pasted white space is no fault", async ({ page }) => {
  await openQuiet(page);
  const blob = good["Hashing blob"].replace(/.{20}/gu, "$&\n ");
  await submit(page, { ...good, "Hashing blob": blob });
  await expect(verification(page, "form")).toHaveAttribute("data-state", "valid");
});

test("the examples are valid, each in its turn", async ({ page }) => {
  await openQuiet(page);
  const form = verification(page, "form");
  for (const { hashing_blob, pow_hash } of headers.blocks.slice(1, 4)) {
    await page.getByRole("button", { name: "Fill in an example" }).click();
    await expect(page.getByLabel("Hashing blob")).toHaveValue(hashing_blob);
    await page.getByRole("button", { name: "Verify", exact: true }).click();
    await expect(form).toContainText(pow_hash);
    await expect(form).toHaveAttribute("data-state", "valid");
  }
});

test("a blob with one digit changed is rejected, with the reason", async ({ page }) => {
  await openQuiet(page);
  const blob = good["Hashing blob"].replace(/.$/u, "5");
  expect(blob).not.toBe(good["Hashing blob"]);
  await submit(page, { ...good, "Hashing blob": blob });
  const form = verification(page, "form");
  await expect(form).toHaveAttribute("data-state", "invalid");
  await expect(form.getByRole("status")).toHaveText(
    `Rejected: the hash does not meet the difficulty ${good.Difficulty}.`,
  );
  await expect(form.locator(".verdict")).toHaveCSS("color", "rgb(163, 38, 29)");
});

test("the next difficulty above what the hash meets is rejected", async ({ page }) => {
  await openQuiet(page);
  await submit(page, good);
  const form = verification(page, "form");
  await expect(form).toHaveAttribute("data-state", "valid");
  const met = (await form.locator('[data-part="met"]').innerText()).replaceAll(",", "");
  await submit(page, { Difficulty: met });
  await expect(form).toHaveAttribute("data-state", "valid");
  await submit(page, { Difficulty: String(BigInt(met) + 1n) });
  await expect(form).toHaveAttribute("data-state", "invalid");
});

for (const [label, text, words] of [
  ["Seed hash", "", "Seed hash: is missing."],
  ["Seed hash", "11".repeat(31), "expected 32 bytes (64 hex characters), got 31 bytes."],
  ["Seed hash", "11".repeat(33), "expected 32 bytes (64 hex characters), got 33 bytes."],
  ["Seed hash", "1".repeat(63), "expected an even number of hex characters, got 63."],
  [
    "Seed hash",
    `${"1".repeat(63)}g`,
    'expected hex characters (0-9, a-f), got "g" at position 63.',
  ],
  ["Hashing blob", " \n", "Hashing blob: is missing."],
  ["Hashing blob", "101", "expected an even number of hex characters, got 3."],
  ["Hashing blob", "0x10", 'expected hex characters (0-9, a-f), got "x" at position 1.'],
  ["Hashing blob", "00".repeat(1048577), "expected at most 1048576 bytes, got 1048577 bytes."],
  ["Difficulty", "", "Difficulty: is missing."],
  ["Difficulty", "0", "expected at least 1, got 0."],
  ["Difficulty", "-1", "expected decimal digits only."],
  ["Difficulty", "1.5", "expected decimal digits only."],
  ["Difficulty", "NaN", "expected decimal digits only."],
  ["Difficulty", (1n << 256n).toString(), "expected less than 2^256."],
] as const) {
  test(`${label} ${JSON.stringify(text.slice(0, 12))} (${text.length}): ${words}`, async ({
    page,
  }) => {
    await page.goto("/");
    await submit(page, { ...good, [label]: text });
    const field = page.getByLabel(label);
    await expect(field).toHaveAttribute("aria-invalid", "true");
    await expect(field).toHaveAccessibleDescription(new RegExp(escape(words)));
    await expect(field).toBeFocused();
    await expect(verification(page, "form")).toHaveAttribute("data-state", "idle");

    await field.fill(good[label]);
    await expect(field).toHaveAttribute("aria-invalid", "false");
  });
}

test("all fields complain at once", async ({ page }) => {
  await page.goto("/");
  await submit(page, {});
  await expect(page.getByText(/: is missing\.$/u)).toHaveCount(3);
});

test("a check can be cancelled, and another one made", async ({ page }) => {
  await openQuiet(page);
  const form = verification(page, "form");
  const cancel = page.getByRole("button", { name: "Cancel" });
  await expect(cancel).toBeDisabled();
  await submit(page, { ...good, "Seed hash": "22".repeat(32) });
  await expect(form).toHaveAttribute("data-state", "filling");
  await cancel.click();
  await expect(form.getByRole("status")).toHaveText(/^Cancelled/);
  await expect(form).toHaveAttribute("data-state", "cancelled");
  await expect(cancel).toBeDisabled();

  await submit(page, good);
  await expect(form).toHaveAttribute("data-state", "valid");
});

test("the form works with the keyboard alone", async ({ page }) => {
  await openQuiet(page);
  await page.getByLabel("Seed hash").focus();
  await page.keyboard.insertText(good["Seed hash"]);
  await page.keyboard.press("Tab");
  await page.keyboard.insertText(good["Hashing blob"]);
  await page.keyboard.press("Tab");
  await page.keyboard.insertText(good.Difficulty);
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await expect(verification(page, "form")).toHaveAttribute("data-state", "valid");
});

function escape(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/gu, "\\$&");
}
