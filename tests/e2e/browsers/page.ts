/** Playwright's `test` for the page's specs, which run in every browser. */
import { writeFileSync } from "node:fs";
import axe, { type AxeResults } from "axe-core";
import { PRODUCT } from "../addresses.js";
import type { Browser, Tab } from "./browser.js";
import { expect, test as inBrowsers } from "./test.js";

export { expect } from "@playwright/test";

/** Within this time every step of the page is to be seen. */
const PATIENCE = 30_000;

/** How often the page is looked at, in milliseconds: a cache may be filled in half a second. */
const LOOKS = { intervals: [20, 50, 100] };

/** The product in a tab. Selectors are CSS. */
export class Visit {
  readonly browser: Browser;
  readonly tab: Tab;
  readonly #address: string;

  /** `address` is where the product is served. */
  constructor(browser: Browser, tab: Tab, address: string) {
    this.browser = browser;
    this.tab = tab;
    this.#address = address;
  }

  /** Opens the page in another tab of the same visitor's. */
  async another(hash: string): Promise<Visit> {
    const tab = await this.tab.another(this.#address + hash);
    return new Visit(this.browser, tab, this.#address);
  }

  /** Goes to an address of the page, such as `#/compare`. */
  async go(hash: string): Promise<void> {
    await this.tab.goto(this.#address + hash);
  }

  /** Waits until there is such an element. */
  async until(selector: string, timeout = PATIENCE): Promise<void> {
    await expect
      .poll(() => this.count(selector), { message: `waiting for ${selector}`, timeout, ...LOOKS })
      .toBeGreaterThan(0);
  }

  /** Waits until an element's text is as expected. */
  async says(selector: string, words: RegExp | string, timeout = PATIENCE): Promise<void> {
    const text = expect.poll(() => this.text(selector), { message: selector, timeout, ...LOOKS });
    if (typeof words === "string") await text.toBe(words);
    else await text.toMatch(words);
  }

  /** How many elements a selector means. */
  async count(selector: string): Promise<number> {
    return this.#ask(`document.querySelectorAll(${JSON.stringify(selector)}).length`);
  }

  /** The text of the first element, as it is seen, or nothing where there is none. */
  async text(selector: string): Promise<string> {
    return this.#ask(
      `(document.querySelector(${JSON.stringify(selector)})?.innerText ?? "").trim()`,
    );
  }

  /** An expression over the first element, which is `it`. */
  async of<T>(selector: string, expression: string): Promise<T> {
    return this.#ask(
      `((it) => ${expression})(document.querySelector(${JSON.stringify(selector)}))`,
    );
  }

  /** Clicks when there is such an element that can be clicked. */
  async click(selector: string): Promise<void> {
    await this.until(`${selector}:not(:disabled)`);
    await this.of(selector, `it.scrollIntoView({ block: "center", behavior: "instant" })`);
    await this.tab.click(selector);
  }

  /** Puts a text where the visitor would paste it. */
  async fill(selector: string, text: string): Promise<void> {
    await this.until(selector);
    await this.of(
      selector,
      `{ it.value = ${JSON.stringify(text)}; it.dispatchEvent(new Event("input", { bubbles: true })); }`,
    );
  }

  /** Whether an element has the keyboard. */
  async hasFocus(selector: string): Promise<boolean> {
    return this.of(selector, "it !== null && it === document.activeElement");
  }

  /** What axe finds against the page as it is. */
  async violations(): Promise<string[]> {
    const found = (await this.tab.evaluate(
      `(() => { ${axe.source}; return axe.run().then(({ violations, passes }) => ({
        violations: violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)].join(" ")),
        passes: passes.length,
      })); })()`,
    )) as { violations: string[]; passes: AxeResults["passes"]["length"] };
    // A page that has nothing in it breaks no rule either.
    expect(found.passes).toBeGreaterThan(10);
    return found.violations;
  }

  /** Expects a view that is clean by axe's rules, light and dark, and not wider than a phone; keeps it. */
  async isFitToSee(name: string): Promise<void> {
    for (const theme of ["light", "dark"]) {
      await this.of("html", `it.dataset.theme = "${theme}"`);
      expect(await this.violations()).toEqual([]);
      await this.tab.resize(1280, 800);
      await this.keep(`${name}-${theme}`);
      await this.tab.resize(360, 720);
      const width = await this.of<number>("html", "innerWidth");
      expect(await this.of("html", "it.scrollWidth")).toBeLessThanOrEqual(width);
      await this.keep(`${name}-${theme}-phone`);
    }
    await this.tab.resize(1280, 800);
  }

  /** Keeps what is seen as a file among the run's artifacts. */
  async keep(name: string): Promise<void> {
    const path = inBrowsers.info().outputPath(`${this.browser.name}-${name}.png`);
    writeFileSync(path, await this.tab.screenshot());
  }

  async #ask<T>(expression: string): Promise<T> {
    return (await this.tab.evaluate(expression)) as T;
  }
}

/** Opens the product in a new tab, or what a test serves in its place. */
export async function visit(browser: Browser, hash = "", address = PRODUCT): Promise<Visit> {
  return new Visit(browser, await browser.open(address + hash), address);
}

interface Fixtures {
  /** A new tab, in which the product is still to be opened. */
  view: Visit;
}

export const test = inBrowsers.extend<Fixtures>({
  view: async ({ started }, use) => {
    const view = new Visit(started, await started.open("about:blank"), PRODUCT);
    await use(view);
    await view.tab.close();
  },
});
