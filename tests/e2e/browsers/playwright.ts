/** Chromium and Firefox, through Playwright. */
import {
  chromium,
  firefox,
  type Browser as Started,
  type BrowserContext,
  type LaunchOptions,
} from "@playwright/test";
import type { Browser, BrowserName, StartOptions, Tab } from "./browser.js";

/** Chromium: the one at `CHROMIUM_PATH`, or Playwright's own. */
export async function startChromium({ args = [] }: StartOptions): Promise<Browser> {
  const options = { args: ["--no-sandbox", ...args], ...at(process.env.CHROMIUM_PATH) };
  return wrap("chromium", await chromium.launch(options));
}

/**
 * Firefox: the one at `FIREFOX_PATH`, or the system's. It is a released one, not Playwright's own
 * build, and is driven by WebDriver BiDi.
 */
export async function startFirefox({ args = [] }: StartOptions): Promise<Browser> {
  const options = { channel: "moz-firefox", args, ...at(process.env.FIREFOX_PATH) };
  return wrap("firefox", await firefox.launch(options));
}

/** Playwright takes its own choice only where there is no path at all. */
function at(executablePath: string | undefined): Pick<LaunchOptions, "executablePath"> {
  return executablePath ? { executablePath } : {};
}

function wrap(name: BrowserName, browser: Started): Browser {
  return {
    name,
    version: browser.version(),
    open: (url) => open(browser, url),
    close: () => browser.close(),
  };
}

async function open(browser: Started, url: string): Promise<Tab> {
  const context = await browser.newContext();
  return openIn(context, url, () => context.close());
}

async function openIn(
  context: BrowserContext,
  url: string,
  close: () => Promise<void>,
): Promise<Tab> {
  const page = await context.newPage();
  await page.goto(url);
  return {
    evaluate: (expression) => page.evaluate(expression),
    another: async (url) => openIn(context, url, () => Promise.resolve()),
    goto: async (url) => {
      await page.goto(url);
    },
    reload: async () => {
      await page.reload();
    },
    back: async () => {
      await page.goBack();
    },
    forward: async () => {
      await page.goForward();
    },
    click: (selector) => page.click(selector),
    press: (key) => page.keyboard.press(key),
    resize: (width, height) => page.setViewportSize({ width, height }),
    screenshot: () => page.screenshot(),
    close,
  };
}
