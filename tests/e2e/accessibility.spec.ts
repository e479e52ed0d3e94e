/** The page by axe's rules, in each of its states and both of its colour schemes. */
import { AxeBuilder } from "@axe-core/playwright";
import { expect, test } from "@playwright/test";
import { verification } from "./support.js";

for (const colorScheme of ["light", "dark"] as const) {
  test(`${colorScheme}: verified, wrong fields, rejected`, async ({ page }) => {
    const expectNoViolation = async (): Promise<void> => {
      const { violations, passes } = await new AxeBuilder({ page }).analyze();
      expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
      expect(passes.length).toBeGreaterThan(10);
    };
    const verify = page.getByRole("button", { name: "Verify", exact: true });

    await page.emulateMedia({ colorScheme });
    await page.goto("/");
    await expect(verification(page, "example")).toHaveAttribute("data-state", "valid");
    await expectNoViolation();

    await verify.click();
    await expect(page.getByLabel("Seed hash")).toHaveAttribute("aria-invalid", "true");
    await expectNoViolation();

    await page.getByRole("button", { name: "Fill in an example" }).click();
    await page.getByLabel("Hashing blob").fill("00");
    await verify.click();
    await expect(verification(page, "form")).toHaveAttribute("data-state", "invalid");
    await expectNoViolation();
  });
}
