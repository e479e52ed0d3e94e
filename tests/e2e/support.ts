/** Helpers of the specs. */
import { readFileSync } from "node:fs";
import { expect, type Locator, type Page, type Worker } from "@playwright/test";
import { HARNESS } from "./addresses.js";

/** Reads a file of the repository. */
export function readText(path: string): string {
  return readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
}

/** Eight real blocks of one seed epoch. */
export const headers = JSON.parse(readText("tests/vectors/mainnet-headers.json")) as {
  seed_height: number;
  seed_hash: string;
  blocks: {
    height: number;
    id: string;
    difficulty: string;
    hashing_blob: string;
    pow_hash: string;
  }[];
};

/** Locates the report of a block's verification. */
export function report(page: Page): Locator {
  return page.locator("#report");
}

/** Locates the verdict of a report, which screen readers announce. The report's progress is a status too. */
export function verdictOf(report: Locator): Locator {
  return report.locator('[role="status"][data-place="verdict"]');
}

/** Opens the harness, and waits for `window.harness`. */
export async function openHarness(page: Page): Promise<void> {
  await page.goto(HARNESS);
  await page.waitForFunction(() => "harness" in window);
}

/** Waits for the worker that fills a cache. Only it pauses, with a message to itself. */
export async function fillingWorker(page: Page): Promise<Worker> {
  let found: Worker | undefined;
  const look = async (): Promise<boolean> => {
    for (const worker of page.workers()) {
      if (await worker.evaluate(hasPaused)) found = worker;
    }
    return found !== undefined;
  };
  await expect.poll(look, { intervals: [20] }).toBe(true);
  if (!found) throw new Error("no worker fills a cache");
  return found;
}

/** Runs inside a worker. Returns whether it has paused since the first call. */
function hasPaused(): boolean {
  const watched = globalThis as { hasPaused?: boolean };
  if (watched.hasPaused === undefined) {
    watched.hasPaused = false;
    globalThis.MessageChannel = class extends MessageChannel {
      constructor() {
        super();
        watched.hasPaused = true;
      }
    };
  }
  return watched.hasPaused;
}

/** Ways for a worker to die, run inside it while it fills a cache, and the error of each. */
export const DEATHS: { name: string; die: () => void; words: RegExp }[] = [
  {
    name: "throws",
    die: () => {
      setTimeout(() => {
        throw new Error("the end");
      });
    },
    words: /the worker died: .*the end/u,
  },
  {
    name: "is closed",
    die: () => {
      self.close();
    },
    words: /the worker is gone/u,
  },
  {
    name: "traps",
    die: () => {
      // (func (export "f") unreachable), called when the fill next reads the clock.
      const trap = Uint8Array.of(
        ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 4, 1, 0x60, 0, 0, 3, 2, 1, 0],
        ...[7, 5, 1, 1, 0x66, 0, 0, 0x0a, 5, 1, 3, 0, 0, 0x0b],
      );
      const { f } = new WebAssembly.Instance(new WebAssembly.Module(trap)).exports;
      performance.now = f as () => number;
    },
    words: /unreachable/u,
  },
];
