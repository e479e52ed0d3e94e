/**
 * The browser tests: the engine and the page in three browsers (`browsers/` starts them), then tests
 * that only Chromium supports, in the one at `CHROMIUM_PATH` or Playwright's own.
 *
 * `E2E_TIER` chooses a tier. `full`, the default, runs everything. `quick` selects by the tags that
 * stand at tests:
 * - no tag: runs in every browser. These tests prove each tier of generated code and the page's main
 *   paths.
 * - `@chromium`: the quick tier runs it in Chromium only.
 * - `@full`: the quick tier leaves it out.
 *
 * With `E2E_WHOLE=1` the reporter fails the run unless every browser ran all that its tier requires.
 */
import { defineConfig, devices, type Project } from "@playwright/test";
import { PRODUCT } from "./addresses.js";
import type { BrowserName } from "./browsers/browser.js";
import { servers } from "./servers.js";
import { chosenTier, leftOut } from "./tiers.js";

const BROWSERS: BrowserName[] = ["chromium", "firefox", "webkit"];

/** Specs that fail when something else keeps the processors busy. `interruptions` starts each browser itself. */
const TIMED = /e2e\/(?:main-thread|compare|interruptions)\.spec\.ts$/u;

/** Specs that run in three browsers. */
const IN_ALL = /e2e\/(?:engine|page)\//u;

interface Options {
  engine: BrowserName;
}

const tier = chosenTier();

/** The specs of a folder in one browser. */
function inBrowser(folder: "engine" | "page", name: BrowserName): Project<object, Options> {
  return {
    name: `${folder}-${name}`,
    testDir: folder,
    grepInvert: leftOut(tier, name),
    use: { engine: name },
    // Hashing keeps the processors busy; the page's tests mostly wait for a browser.
    ...(folder === "engine" ? { workers: 1 } : { fullyParallel: true }),
  };
}

const executablePath = process.env.CHROMIUM_PATH;

/** Specs that use Playwright's own fixtures. */
const inChromium = {
  grepInvert: leftOut(tier, "chromium"),
  use: {
    ...devices["Desktop Chrome"],
    launchOptions: { args: ["--no-sandbox"], ...(executablePath ? { executablePath } : {}) },
  },
};

export default defineConfig<object, Options>({
  outputDir: "results/artifacts",
  snapshotPathTemplate: "pictures/{projectName}/{arg}{ext}",
  forbidOnly: Boolean(process.env.CI),
  // Some tests compare times, and a shared machine may be busy for a moment. WebKit's driver
  // sometimes hangs when it opens a tab. Playwright reports a test that passed later as flaky.
  retries: process.env.CI ? 2 : 0,
  workers: 2,
  timeout: 120_000,
  expect: { timeout: 30_000 },
  reporter: [["list"], ["./reporter.ts"]],
  use: {
    baseURL: PRODUCT,
    // Recording every step costs as much as the steps. Without retries, `--trace on` records.
    trace: "on-first-retry",
  },
  projects: [
    ...BROWSERS.map((name) => inBrowser("engine", name)),
    ...BROWSERS.map((name) => inBrowser("page", name)),
    { ...inChromium, name: "chromium", testIgnore: [IN_ALL, TIMED] },
    // Last, when the other worker has nothing left to do.
    { ...inChromium, name: "timed", testMatch: TIMED, workers: 1 },
  ],
  webServer: servers({ rebuild: false }),
});
