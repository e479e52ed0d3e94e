/**
 * The browser tests: the engine's and the page's in three browsers (`browsers/` starts them), and
 * what only Chromium lets tests do in it, the one at `CHROMIUM_PATH` or Playwright's own. All servers
 * listen on 127.0.0.1 only.
 */
import { fileURLToPath } from "node:url";
import { defineConfig, devices, type Project } from "@playwright/test";
import { nativeProgram } from "../programs.js";
import { HARNESS, PRODUCT } from "./addresses.js";
import type { BrowserName } from "./browsers/browser.js";

const BROWSERS: BrowserName[] = ["chromium", "firefox", "webkit"];

interface Options {
  engine: BrowserName;
}

const root = fileURLToPath(new URL("../..", import.meta.url));
const vite = `"${process.execPath}" node_modules/vite/bin/vite.js`;

/** Builds with a configuration and serves the result at an address. */
function site(
  url: string,
  config: string,
  serve: (port: string, config: string) => string,
): { url: string; cwd: string; command: string } {
  const build = `${vite} build --config ${config} --logLevel warn`;
  return { url, cwd: root, command: `${build} && ${serve(new URL(url).port, config)}` };
}

/** As visitors have it, with the native build beside the page. */
function natively(port: string): string {
  return `"${nativeProgram()}" serve --page web/dist --port ${port}`;
}

function byVite(port: string, config: string): string {
  return `${vite} preview --config ${config} --logLevel warn --strictPort --port ${port}`;
}

/** The specs of a folder in one browser. */
function within(folder: "engine" | "page", name: BrowserName): Project<object, Options> {
  return { name: `${folder}-${name}`, testDir: folder, use: { engine: name } };
}

const executablePath = process.env.CHROMIUM_PATH;

export default defineConfig<object, Options>({
  outputDir: "results/artifacts",
  forbidOnly: Boolean(process.env.CI),
  // Some specs hold answers against the clock, and a shared machine may be busy for a moment;
  // Playwright reports what passed only when tried again as flaky.
  retries: process.env.CI ? 2 : 0,
  // A verification takes 256 MiB and keeps a core busy.
  workers: 1,
  timeout: 120_000,
  expect: { timeout: 30_000 },
  reporter: [["list"], ["./reporter.ts"]],
  use: {
    baseURL: PRODUCT,
    trace: "retain-on-failure",
  },
  projects: [
    ...BROWSERS.map((name) => within("engine", name)),
    ...BROWSERS.map((name) => within("page", name)),
    {
      name: "page",
      testIgnore: ["engine/**", "page/**"],
      use: {
        ...devices["Desktop Chrome"],
        launchOptions: { args: ["--no-sandbox"], ...(executablePath ? { executablePath } : {}) },
      },
    },
  ],
  webServer: [
    site(PRODUCT, "vite.config.ts", natively),
    site(HARNESS, "tests/e2e/harness/vite.config.ts", byVite),
  ],
});
