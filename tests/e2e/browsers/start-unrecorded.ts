/** Starts browsers whose traffic nothing records. */
import { setTimeout as pause } from "node:timers/promises";
import type { BrowserName } from "./browser.js";
import { launchChromium } from "./playwright.js";
import { startUnrecordedFirefox } from "./unrecorded-firefox.js";
import { unrecordedChromium, type UnrecordedBrowser } from "./unrecorded.js";
import { startWebKit } from "./webdriver.js";

/** The pause between two looks whether a page is ready, in milliseconds. */
const STEP = 50;

/** Starts a browser. */
export function startUnrecorded(name: BrowserName): Promise<UnrecordedBrowser> {
  const starts = { chromium, firefox: startUnrecordedFirefox, webkit };
  return starts[name]();
}

async function chromium(): Promise<UnrecordedBrowser> {
  const browser = await launchChromium({});
  return { ...unrecordedChromium(browser), close: () => browser.close() };
}

/** WebDriver records nothing in WebKit. */
async function webkit(): Promise<UnrecordedBrowser> {
  const browser = await startWebKit();
  return {
    open: async (url, isReady) => {
      const tab = await browser.open(url);
      while ((await tab.evaluate(isReady)) !== true) await pause(STEP);
      return tab;
    },
    close: () => browser.close(),
  };
}
