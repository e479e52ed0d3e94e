/** How long the page takes from the request for it to the verdict on its block, on a first visit and on a second one. */
import { expect } from "@playwright/test";
import { PRODUCT } from "../addresses.js";
import type { Browser, Tab } from "../browsers/browser.js";
import type { Measurements } from "./rows.js";

const VERDICT = "page load to verified block";

/** Waits for the verdict, and returns its time in milliseconds. */
const WAIT = `new Promise((resolve) => {
  const look = () => {
    const state = document.querySelector("#report")?.dataset.state;
    if (state === "valid") resolve(performance.now());
    else if (state === "failed") resolve(-1);
    else setTimeout(look, 4);
  };
  look();
})`;

/**
 * Waits until the cache is kept, and returns whether the browser can keep it. The file's header is written
 * last; then the worker closes the file, and the system writes all of it to the disk.
 */
const KEEP = `(async () => {
  const root = await navigator.storage?.getDirectory?.();
  if (!root) return false;
  const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
  for (let wait = 0; wait < 60_000; wait += 100) {
    await pause(100);
    const kept = await root.getFileHandle("randomx-cache").catch(() => undefined);
    const file = await kept?.getFile().catch(() => undefined);
    const start = await file?.slice(0, 13).text().catch(() => "");
    if (start !== "randomx-cache") continue;
    await pause(6000);
    return true;
  }
  throw new Error("the cache was not kept within a minute");
})()`;

/** Measures both visits in one tab. */
export async function addStarts(
  browser: Browser,
  label: string,
  measurements: Measurements,
): Promise<void> {
  const at = { browser: label, engine: "auto", tier: "auto", threads: 0, lanes: 8 };
  const tab = await browser.open(PRODUCT);
  measurements.add({ ...at, what: VERDICT }, await verdict(tab));
  if (await tab.evaluate(KEEP)) {
    await tab.reload();
    measurements.add({ ...at, what: `${VERDICT}, second visit` }, await verdict(tab));
  }
  await tab.close();
}

async function verdict(tab: Tab): Promise<number> {
  const milliseconds = Number(await tab.evaluate(WAIT));
  expect(milliseconds, "the page verifies its block").toBeGreaterThan(0);
  return milliseconds;
}
