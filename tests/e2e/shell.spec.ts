/** The page's frame, in tests that need what only Playwright's Chromium offers. */
import { expect, test, type Page } from "@playwright/test";

function link(page: Page, name: string): ReturnType<Page["getByRole"]> {
  return page.getByRole("navigation").getByRole("link", { name, exact: true });
}

async function expectOpen(page: Page, name: string): Promise<void> {
  await expect(page.locator(".view")).toHaveAttribute("data-view", name.toLowerCase());
  await expect(page).toHaveTitle(new RegExp(`^${name} · RandomX`, "u"));
  await expect(link(page, name)).toHaveAttribute("aria-current", "page");
  await expect(page.locator("header [aria-current]")).toHaveCount(1);
}

test(
  "a view that cannot be loaded is reported, and others open",
  { tag: "@full" },
  async ({ page }) => {
    await page.goto("/");
    await page.route("**/assets/view-*.js", (route) => route.abort());
    await link(page, "Bench").click();
    await expect(page.getByRole("heading", { name: "This view cannot be opened" })).toBeFocused();
    await expect(page.getByRole("alert")).toBeVisible();
    await link(page, "Verify").click();
    await expectOpen(page, "Verify");
  },
);

test("the skip link leads to the content of the same view", { tag: "@full" }, async ({ page }) => {
  await page.goto("/#/bench");
  await expectOpen(page, "Bench");
  await page.keyboard.press("Tab");
  await expect(page.getByRole("link", { name: "Skip to the content" })).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page.locator("main")).toBeFocused();
  await expectOpen(page, "Bench");
  expect(page.url()).toMatch(/#\/bench$/u);
  // An address of an earlier version.
  await page.goto("/#main");
  await page.reload();
  await expectOpen(page, "Verify");
});

test(
  "a view that was left before it was loaded is not marked as open",
  { tag: "@full" },
  async ({ page }) => {
    await page.goto("/");
    await expectOpen(page, "Verify");
    await page.route("**/assets/view-*.js", () => undefined);
    await link(page, "Compare").click();
    await expect(link(page, "Compare")).toHaveAttribute("aria-current", "page");
    await link(page, "Verify").click();
    await expectOpen(page, "Verify");
  },
);

test(
  "colours follow the system until they are chosen, and the choice is kept",
  { tag: "@full" },
  async ({ page }) => {
    await page.emulateMedia({ colorScheme: "dark" });
    await page.goto("/#/bench");
    const body = page.locator("body");
    const theme = page.getByRole("button", { name: /^Colours/u });
    await expect(body).toHaveCSS("background-color", "rgb(16, 20, 18)");
    await theme.click();
    await expect(theme).toHaveAccessibleName("Colours: light");
    await expect(body).toHaveCSS("background-color", "rgb(247, 248, 245)");
    await page.reload();
    await expect(body).toHaveCSS("background-color", "rgb(247, 248, 245)");
    await theme.click();
    await theme.click();
    await expect(theme).toHaveAccessibleName("Colours: same as the system");
    await expect(body).toHaveCSS("background-color", "rgb(16, 20, 18)");
  },
);

test("a chosen theme is there before the first paint", { tag: "@full" }, async ({ page }) => {
  await page.emulateMedia({ colorScheme: "light" });
  await page.goto("/#/nothing");
  await page.evaluate(() => {
    localStorage.setItem("randomx-theme", "dark");
  });
  await page.route("**/*.js", () => new Promise(() => undefined));
  await page.reload({ waitUntil: "commit" });
  await expect(page.locator("body")).toHaveCSS("background-color", "rgb(16, 20, 18)");
});

test("screen readers get the attributes in a browser without their properties", async ({
  page,
}) => {
  // As Firefox before version 119.
  await page.addInitScript(() => {
    for (const name of Object.keys(Element.prototype)) {
      if (/^(?:role|aria[A-Z])/u.test(name)) Reflect.deleteProperty(Element.prototype, name);
    }
  });
  await page.goto("/#/bench");
  await expect(link(page, "Bench")).toHaveAttribute("aria-current", "page");
  const seconds = page.locator("#bench-seconds");
  await seconds.fill("1000");
  await seconds.blur();
  await page.locator(".bench-form [type=submit]").click();
  await expect(seconds).toBeFocused();
  await link(page, "Verify").click();
  await expect(link(page, "Bench")).not.toHaveAttribute("aria-current");
  await expect(page.locator(".task [role=status]")).not.toHaveCount(0);
});

test("the page paints before any script has loaded", { tag: "@full" }, async ({ page }) => {
  await page.route("**/*.js", () => new Promise(() => undefined));
  await page.goto("/", { waitUntil: "commit" });
  await expect(link(page, "Explore")).toBeVisible();
  const painted = (): Promise<number> =>
    page.evaluate(() => performance.getEntriesByName("first-contentful-paint").length);
  await expect.poll(painted).toBe(1);
  const starting = page.getByText("Starting…");
  await expect(starting).toBeVisible();
  // As without JavaScript, which would have made this element.
  await page.evaluate(() =>
    document.querySelector("noscript")?.append(document.createElement("p")),
  );
  await expect(starting).toBeHidden();
});
