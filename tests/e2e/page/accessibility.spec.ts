/** Checks each state of the page by axe's rules, light and dark. */
import { expect, test, type Visit } from "../browsers/page.js";

const SIZES = { desktop: [1280, 800], phone: [390, 844] } as const;

async function choose(view: Visit, theme: "light" | "dark"): Promise<void> {
  await view.until("#theme:not([hidden])");
  while ((await view.of("#theme", "it.dataset.choice")) !== theme) await view.click("#theme");
}

for (const theme of ["light", "dark"] as const) {
  test(
    `${theme}: a valid block, wrong fields, an invalid block, a node's form`,
    { tag: theme === "light" ? "@chromium" : "@full" },
    async ({ view }) => {
      await view.go("");
      await choose(view, theme);
      await view.until('#report[data-state="valid"]');
      await view.until(".epoch");
      for (const [size, [width, height]] of Object.entries(SIZES)) {
        await view.tab.resize(width, height);
        expect(await view.violations(), size).toEqual([]);
      }

      await view.go("#/verify?from=paste");
      await view.click("#from-paste [type=submit]");
      await view.until('#block[aria-invalid="true"]');
      expect(await view.violations()).toEqual([]);

      await view.click("#fill");
      await view.fill("#block", "00".repeat(76));
      await view.click("#from-paste [type=submit]");
      await view.until('#report[data-state="invalid"]');
      expect(await view.violations()).toEqual([]);

      await view.go("#/verify?from=node");
      await view.until("#from-node:not([hidden])");
      expect(await view.violations()).toEqual([]);
    },
  );
}

test("every view, as it opens, on a phone", { tag: "@chromium" }, async ({ view }) => {
  await view.go("#/nothing");
  await choose(view, "dark");
  await view.tab.resize(360, 720);
  for (const name of ["follow", "compare", "bench", "explore", "documentation"]) {
    if (name === "documentation") {
      await view.go(`${name}.html`);
    } else {
      await view.go(`#/${name}`);
      await view.until(`.view[data-view="${name}"] h1`);
    }
    await view.of("html", `it.querySelectorAll("details").forEach((each) => (each.open = true))`);
    expect(await view.violations(), name).toEqual([]);
    for (const phone of [320, 360]) {
      await view.tab.resize(phone, 720);
      const width = await view.of<number>("html", "innerWidth");
      const needed = await view.of("html", "it.scrollWidth");
      expect(needed, `${name}, ${phone}`).toBeLessThanOrEqual(width);
    }
  }
});
