/** Chromium and Firefox, driven by Playwright. */
import {
  chromium,
  firefox,
  type Browser as Started,
  type BrowserContext,
  type LaunchOptions,
} from "@playwright/test";
import type { Browser, BrowserName, StartOptions, Tab } from "./browser.js";

/** Starts Chromium: the one at `CHROMIUM_PATH`, or Playwright's own. */
export async function startChromium(options: StartOptions): Promise<Browser> {
  return wrap("chromium", await launchChromium(options));
}

/** Starts the same, as Playwright's own object. */
export async function launchChromium({ args = [] }: StartOptions): Promise<Started> {
  const options = { args: ["--no-sandbox", ...args], ...at(process.env.CHROMIUM_PATH) };
  return chromium.launch(options);
}

/**
 * Starts Firefox: the one at `FIREFOX_PATH`, or the system's. It is a release, not Playwright's own
 * build, so WebDriver BiDi drives it.
 */
export async function startFirefox({ args = [] }: StartOptions): Promise<Browser> {
  const options = { channel: "moz-firefox", args, ...at(process.env.FIREFOX_PATH) };
  return wrap("firefox", await firefox.launch(options));
}

/** Playwright chooses a browser only if the option is absent. */
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
