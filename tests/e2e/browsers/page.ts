/** Playwright's `test` for the page's specs, which run in every browser. */
import axe, { type AxeResults } from "axe-core";
import { PRODUCT } from "../addresses.js";
import type { Browser, Tab } from "./browser.js";
import { expect, test as inBrowsers } from "./test.js";

export { expect } from "@playwright/test";

/** The longest that a step of the page may take, in milliseconds. */
const STEP_TIMEOUT = 30_000;

/** The pauses between checks, in milliseconds; filling a cache may take only half a second. */
const POLLING = { intervals: [20, 50, 100] };

/** Makes axe a global object. */
const AXE = `(() => { ${axe.source}; })()`;

/** axe's rules, and one that it has but does not apply: a button's name contains its label. */
const RULES = {
  rules: { "label-content-name-mismatch": { enabled: true } },
  resultTypes: ["violations"],
};

/** The product in a tab, addressed by CSS selectors. */
export class Visit {
  readonly browser: Browser;
  readonly tab: Tab;
  readonly #address: string;

  /** `address` is the product's. */
  constructor(browser: Browser, tab: Tab, address: string) {
    this.browser = browser;
    this.tab = tab;
    this.#address = address;
  }

  /** Opens the page in another tab with the same storage. */
  async another(hash: string): Promise<Visit> {
    const tab = await this.tab.another(this.#address + hash);
    return new Visit(this.browser, tab, this.#address);
  }

  /** Goes to an address of the page, such as `#/compare`. */
  async go(hash: string): Promise<void> {
    await this.tab.goto(this.#address + hash);
  }

  /** Leaves the view: goes to an address that has none, and waits until the page says so. */
  async leave(): Promise<void> {
    await this.go("#/nothing");
    await this.until('[role="alert"]');
  }

  /** Waits until an element matches. */
  async until(selector: string, timeout = STEP_TIMEOUT): Promise<void> {
    await expect
      .poll(() => this.count(selector), { message: `waiting for ${selector}`, timeout, ...POLLING })
      .toBeGreaterThan(0);
  }

  /** Waits until the first match has the expected text. */
  async says(selector: string, words: RegExp | string, timeout = STEP_TIMEOUT): Promise<void> {
    const text = expect.poll(() => this.text(selector), { message: selector, timeout, ...POLLING });
    if (typeof words === "string") await text.toBe(words);
    else await text.toMatch(words);
  }

  /** Counts the matches. */
  async count(selector: string): Promise<number> {
    return this.#evaluate(`document.querySelectorAll(${JSON.stringify(selector)}).length`);
  }

  /** Returns the visible text of the first match, or nothing if there is none. */
  async text(selector: string): Promise<string> {
    return this.#evaluate(
      `(document.querySelector(${JSON.stringify(selector)})?.innerText ?? "").trim()`,
    );
  }

  /** Evaluates an expression in which `it` is the first match. */
  async of<T>(selector: string, expression: string): Promise<T> {
    return this.#evaluate(
      `((it) => ${expression})(document.querySelector(${JSON.stringify(selector)}))`,
    );
  }

  /** Clicks a button that saves a file, and returns the file's text. */
  async saved(selector: string): Promise<string> {
    return this.of(
      selector,
      `new Promise((resolve) => {
        const make = URL.createObjectURL;
        URL.createObjectURL = (file) => {
          URL.createObjectURL = make;
          file.text().then(resolve);
          return "#saved";
        };
        it.click();
      })`,
    );
  }

  /** Waits for an enabled match, and clicks it. */
  async click(selector: string): Promise<void> {
    await this.until(`${selector}:not(:disabled, [aria-disabled="true"])`);
    await this.of(selector, `it.scrollIntoView({ block: "center", behavior: "instant" })`);
    await this.tab.click(selector);
  }

  /** Clicks a button that asks a question, which gets an answer. Returns the question, or nothing if none was asked. */
  async answer(selector: string, answer: boolean): Promise<string> {
    await this.until(`${selector}:not(:disabled, [aria-disabled="true"])`);
    return this.of(
      selector,
      `new Promise((resolve) => {
        const ask = globalThis.confirm;
        globalThis.confirm = (question) => {
          resolve(question);
          return ${answer};
        };
        it.click();
        globalThis.confirm = ask;
        resolve("");
      })`,
    );
  }

  /** Enters a text as if a visitor had pasted it. */
  async fill(selector: string, text: string): Promise<void> {
    await this.until(selector);
    await this.of(
      selector,
      `{ it.value = ${JSON.stringify(text)}; it.dispatchEvent(new Event("input", { bubbles: true })); }`,
    );
  }

  /** Whether the first match has the focus. */
  async hasFocus(selector: string): Promise<boolean> {
    return this.of(selector, "it !== null && it === document.activeElement");
  }

  /** Returns the accessibility problems that axe finds in the page. */
  async violations(): Promise<string[]> {
    // The script of 1.3 MB stays until the page is loaded anew.
    if (!(await this.#evaluate("'axe' in globalThis"))) await this.#evaluate(AXE);
    const found = (await this.tab.evaluate(
      `axe.run(${JSON.stringify(RULES)}).then(({ violations, passes }) => ({
        violations: violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)].join(" ")),
        passes: passes.length,
      }))`,
    )) as { violations: string[]; passes: AxeResults["passes"]["length"] };
    // An empty page breaks no rule either.
    expect(found.passes).toBeGreaterThan(10);
    return found.violations;
  }

  /** Expects a view without problems in light and dark that fits a phone. */
  async expectAccessible(name: string): Promise<void> {
    for (const theme of ["light", "dark"]) {
      await this.of("html", `it.dataset.theme = "${theme}"`);
      await this.tab.resize(1280, 800);
      expect(await this.violations(), `${name}, ${theme}`).toEqual([]);
      await this.tab.resize(360, 720);
      expect(await this.violations(), `${name}, ${theme}, phone`).toEqual([]);
      const width = await this.of<number>("html", "innerWidth");
      expect(await this.of("html", "it.scrollWidth")).toBeLessThanOrEqual(width);
    }
    await this.tab.resize(1280, 800);
  }

  async #evaluate<T>(expression: string): Promise<T> {
    return (await this.tab.evaluate(expression)) as T;
  }
}

/** Opens the product in a new tab; a test may serve its own at another address. */
export async function visit(browser: Browser, hash = "", address = PRODUCT): Promise<Visit> {
  return new Visit(browser, await browser.open(address + hash), address);
}

interface Fixtures {
  /** A new tab, in which the test opens the product. */
  view: Visit;
}

export const test = inBrowsers.extend<Fixtures>({
  view: async ({ started }, use) => {
    const view = new Visit(started, await started.open("about:blank"), PRODUCT);
    await use(view);
    await view.tab.close();
  },
});
