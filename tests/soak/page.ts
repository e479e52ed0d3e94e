/** The package in a page of Chromium, from a static server. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { chromium } from "@playwright/test";
import sirv from "sirv";
import { MIDDLE, type Batch, type Fault, type Subject } from "./subject.js";

/** The page's load, which its script below defines. */
declare const load: {
  workers: () => number;
  hash: (batch: Batch) => Promise<string[]>;
  disturb: (fault: Fault, batch: Batch, ms: number) => Promise<string>;
};

const SCRIPT = `
import { open, watched } from "/tests/soak/load.mjs";
const live = new Set();
globalThis.Worker = watched(Worker, live);
const { RandomX } = await import("/wasm/dist/js/index.js");
globalThis.load = await open(RandomX, live);
`;

/** The headers of a page whose workers share memory. */
const HEADERS = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
};

/** Starts a browser and opens the page. */
export async function pageSubject(): Promise<Subject> {
  const root = fileURLToPath(new URL("../..", import.meta.url));
  const files = sirv(root, { dev: true });
  const site = createServer((request, response) => {
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
    if (request.url !== "/") {
      files(request, response);
      return;
    }
    response.setHeader("Content-Type", "text/html");
    response.end(`<!doctype html><title>soak</title><script type="module">${SCRIPT}</script>`);
  });
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  const address = `http://127.0.0.1:${(site.address() as AddressInfo).port}/`;

  const executablePath = process.env.CHROMIUM_PATH;
  const server = await chromium.launchServer({
    args: ["--no-sandbox"],
    ...(executablePath ? { executablePath } : {}),
  });
  const browser = await chromium.connect(server.wsEndpoint());
  const page = await browser.newPage();
  await page.goto(address);
  await page.waitForFunction("globalThis.load", undefined, { timeout: 60_000 });
  return {
    name: "page",
    pid: server.process().pid ?? 0,
    hash: (batch) => page.evaluate((batch) => load.hash(batch), batch),
    disturb: (fault, batch) =>
      page.evaluate(([fault, batch, ms]) => load.disturb(fault, batch, ms), [
        fault,
        batch,
        MIDDLE,
      ] as const),
    workers: () => page.evaluate(() => load.workers()),
    close: async () => {
      await server.close();
      site.closeAllConnections();
      site.close();
    },
  };
}
