/** Tools that the package's specs share. */
import { expect, type Page } from "@playwright/test";
import { openHarness } from "./support.js";

/** The hash of "This is a test" by the key "test key 000", RandomX 1. */
export const KNOWN = "639183aae1bf4c9a35884cb46b09cad9175f04efd7684e7262a0ac1c2f0b4e3f";

/** The outcome of a promise, in a form that reaches the test. */
export interface Outcome {
  value?: unknown;
  name?: string;
  code?: string;
  message?: string;
  cause?: unknown;
}

/** Runs in the browser before each test, and gives the tests' functions there some tools. */
function tools(): void {
  const text = new TextEncoder();
  Object.assign(window, {
    key: text.encode("test key 000"),
    input: text.encode("This is a test"),
    hex: (bytes: Uint8Array) =>
      Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(""),
    outcome: (promise: Promise<unknown>): Promise<Outcome> =>
      promise.then(
        (value) => ({ value }),
        (error: unknown) => {
          if (!(error instanceof window.harness.RandomXError)) throw error;
          const { name, code, message, cause } = error;
          return { name, code, message, cause };
        },
      ),
  });
}

declare global {
  interface Window {
    key: Uint8Array;
    input: Uint8Array;
    hex: (bytes: Uint8Array) => string;
    outcome: (promise: Promise<unknown>) => Promise<Outcome>;
  }
}

/** Opens the harness with these tools. */
export async function openPackage(page: Page): Promise<void> {
  await page.addInitScript(tools);
  await openHarness(page);
}

/** Waits until the browser has stopped all workers. */
export async function expectNoWorker(page: Page): Promise<void> {
  await expect.poll(() => page.workers().length).toBe(0);
}
