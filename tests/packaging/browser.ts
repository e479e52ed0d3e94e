/** Sites on 127.0.0.1, and Chromium, which opens them. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { chromium, type Browser } from "@playwright/test";
import sirv from "sirv";
import { afterAll, beforeAll, onTestFinished } from "vitest";
import type { Verification } from "./project.js";

/** Headers that isolate a page, so that its workers can share memory. */
export const ISOLATED = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
};

/** Options of `RandomX.create` that can be sent to a page. */
export interface Options {
  workerUrl?: string;
  wasmUrl?: string;
  blockWasmUrl?: string;
  moneroWasmUrl?: string;
}

let browser: Browser;
beforeAll(async () => {
  const executablePath = process.env.CHROMIUM_PATH;
  browser = await chromium.launch({
    args: ["--no-sandbox"],
    ...(executablePath ? { executablePath } : {}),
  });
});
afterAll(() => browser.close());

/** Serves a folder until the test ends. */
export async function serve(
  folder: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<string> {
  const setHeaders = (response: { setHeader: (name: string, value: string) => void }): void => {
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  };
  const server = createServer(sirv(folder, { dev: true, setHeaders }));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

/** Verifies the block in the page at an address. A missing script or module fails the test. */
export function verifyAt(address: string, options: Options = {}): Promise<Verification> {
  return callAt(address, "verify", options);
}

/** Verifies the block in a worker of the page's own. */
export function verifyInWorkerAt(address: string, options: Options = {}): Promise<Verification> {
  return callAt(address, "verifyInWorker", options);
}

/** Computes the block's hash in a worker of the page's own. */
export function hashInWorkerAt(address: string, options: Options = {}): Promise<string> {
  return callAt(address, "hashInWorker", options);
}

/** Calls a function that a page defines with an argument that can be sent there. */
export async function callAt<T>(address: string, name: string, argument: unknown): Promise<T> {
  const page = await browser.newPage();
  const failures: string[] = [];
  page.on("pageerror", (error) => failures.push(error.message));
  page.on("response", (response) => {
    if (response.status() >= 400 && !response.url().endsWith("favicon.ico")) {
      failures.push(`${response.status()} ${response.url()}`);
    }
  });
  try {
    await page.goto(address);
    await page.waitForFunction(`globalThis.${name}`, undefined, { timeout: 20_000 });
    const result = await page.evaluate<unknown, readonly [string, unknown]>(
      ([name, argument]) => (globalThis as unknown as Page)[name]?.(argument),
      [name, argument],
    );
    if (failures.length > 0) throw new Error(failures.join("\n"));
    return result as T;
  } catch (error) {
    throw new Error(`${address}: ${failures.join("; ")}`, { cause: error });
  } finally {
    await page.close();
  }
}

/** The functions that a project's `app.js` defines. */
type Page = Record<string, (argument: unknown) => Promise<unknown>>;
