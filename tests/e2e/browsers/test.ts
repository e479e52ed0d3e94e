/** Playwright's `test` for the specs that run in every browser. */
import { test as base } from "@playwright/test";
import { HARNESS } from "../addresses.js";
import type { Functions } from "../harness/functions.js";
import type { Browser, BrowserName, StartOptions, Tab } from "./browser.js";
import { startChromium, startFirefox } from "./playwright.js";
import { startWebKit } from "./webdriver.js";

export { expect } from "@playwright/test";

/** The harness in a tab, and its functions. */
export interface Harness {
  readonly browser: Browser;
  readonly tab: Tab;
  /** Calls a function of `harness/functions.ts`, whose arguments and result are JSON. */
  call<Name extends keyof Functions>(
    name: Name,
    ...args: Parameters<Functions[Name]>
  ): Promise<Awaited<ReturnType<Functions[Name]>>>;
}

/** Starts a browser. */
export function start(name: BrowserName, options: StartOptions = {}): Promise<Browser> {
  return { chromium: startChromium, firefox: startFirefox, webkit: startWebKit }[name](options);
}

/** Opens the harness in a new tab. */
export async function openHarness(browser: Browser, url = HARNESS): Promise<Harness> {
  return harnessIn(browser, await browser.open(url));
}

/** Opens the harness in one more tab, which shares the first one's storage. */
export async function anotherHarness({ browser, tab }: Harness): Promise<Harness> {
  return harnessIn(browser, await tab.another(HARNESS));
}

/** Returns the harness that a tab has loaded. */
function harnessIn(browser: Browser, tab: Tab): Harness {
  return {
    browser,
    tab,
    call: async (name, ...args) => {
      const call = `window.harness.call(${JSON.stringify(name)}, ${JSON.stringify(args)})`;
      return (await tab.evaluate(call)) as never;
    },
  };
}

interface Fixtures {
  /** The browser without the tab of `harness`: WebKit's driver opens one tab at a time. */
  alone: Browser;
  /** The harness, loaded anew, in a tab that the worker's tests use in turn. */
  harness: Harness;
  /** The harness in a new tab, with nothing of other tests in the browser's memory. */
  freshHarness: Harness;
}

interface WorkerFixtures {
  /** The browser of the project. */
  engine: BrowserName;
  /** Whether WebKit composites, which screenshots need. */
  composites: boolean;
  /** The browser, started. */
  started: Browser;
  /** The tab of `harness`, while it is open. */
  kept: { harness?: Harness };
}

export const test = base.extend<Fixtures, WorkerFixtures>({
  engine: ["chromium", { option: true, scope: "worker" }],
  composites: [false, { option: true, scope: "worker" }],
  started: [
    async ({ engine, composites }, use) => {
      const browser = await start(engine, { composites });
      await use(browser);
      await browser.close();
    },
    { scope: "worker", timeout: 60_000 },
  ],
  kept: [
    // eslint-disable-next-line no-empty-pattern -- Playwright reads the pattern
    async ({}, use) => {
      await use({});
    },
    { scope: "worker" },
  ],
  harness: async ({ started, kept }, use) => {
    if (kept.harness) await kept.harness.tab.reload();
    kept.harness ??= await openHarness(started);
    await use(kept.harness);
  },
  alone: async ({ started, kept }, use) => {
    await kept.harness?.tab.close();
    delete kept.harness;
    await use(started);
  },
  freshHarness: async ({ alone }, use) => {
    const harness = await openHarness(alone);
    await use(harness);
    await harness.tab.close();
  },
});
