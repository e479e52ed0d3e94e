/**
 * Calls that are aborted, or whose instance is disposed of, end at once. These tests compare times, so they are in the
 * project `timed`, beside which nothing keeps the processors busy.
 */
import { expect, test } from "@playwright/test";
import type { BrowserName } from "./browsers/browser.js";
import { openHarness, start } from "./browsers/test.js";
import { known, repeat } from "./engine/known.js";
import { expectNoWorker, KNOWN, openPackage } from "./package-tools.js";

const shares = known.find(({ file }) => file === "mainnet-shares");
if (!shares) throw new Error("tests/vectors: a batch of known hashes is missing");

/** Long enough to be interrupted. */
const large = repeat(shares, 400);
const small = repeat(shares, 20);

/** The browsers, and the variables that name the programs of those that `npm test -- --portable` does not need. */
const BROWSERS: [BrowserName, variable?: string][] = [
  ["chromium"],
  ["firefox", "FIREFOX_PATH"],
  ["webkit", "WEBKIT_DRIVER_PATH"],
];

for (const [name, variable] of BROWSERS) {
  const isThere = variable === undefined || Boolean(process.env[variable]);

  test(`a batch is aborted in the middle in ${name}`, { tag: "@full" }, async () => {
    test.skip(!isThere, `${variable} does not name a program`);
    const browser = await start(name);
    try {
      const harness = await openHarness(browser);
      const { batch, waited, next } = await harness.call("abortedInBatch", large, small);
      expect(batch).toBe("aborted");
      expect(waited).toBeLessThan(100);
      expect(next).toEqual(small.hashes);
    } finally {
      await browser.close();
    }
  });
}

test(
  "aborting a preparation acts at once, and the instance stays usable",
  { tag: "@full" },
  async ({ page }) => {
    await openPackage(page);
    const result = await page.evaluate(async () => {
      const { key, input, hex, outcome } = window;
      const randomx = await window.harness.RandomX.create();
      const abort = new AbortController();
      const progress: number[] = [];
      let abortedAt = 0;
      const onProgress = ({ done }: { done: number }): void => {
        progress.push(done);
        if (done > 0.2 && !abort.signal.aborted) {
          abortedAt = performance.now();
          abort.abort("enough");
        }
      };
      const error = await outcome(randomx.prepare("0102", { signal: abort.signal, onProgress }));
      const waited = performance.now() - abortedAt;
      const before = progress.length;
      const queued = new AbortController();
      const preparing = randomx.prepare("0304");
      const waiting = outcome(randomx.hash("0102", input, { signal: queued.signal }));
      queued.abort();
      const early = await outcome(randomx.hash("0102", input, { signal: AbortSignal.abort(7) }));
      const hash = hex(await randomx.hash(key, input));
      await preparing;
      const after = progress.length;
      randomx.dispose();
      return {
        error,
        waited,
        before,
        after,
        last: progress.at(-1),
        waiting: await waiting,
        early,
        hash,
      };
    });
    expect(result.error).toMatchObject({ name: "AbortError", code: "aborted", cause: "enough" });
    expect(result.waited).toBeLessThan(100);
    expect(result.last).toBeLessThan(0.5);
    expect(result.after).toBe(result.before);
    expect(result.waiting).toMatchObject({ name: "AbortError", code: "aborted" });
    expect(result.early).toMatchObject({ code: "aborted", cause: 7 });
    expect(result.hash).toBe(KNOWN);
  },
);

test(
  "disposing while hashing rejects everything, and ends the worker",
  { tag: "@full" },
  async ({ page }) => {
    await openPackage(page);
    const result = await page.evaluate(async () => {
      const { key, input, outcome } = window;
      const randomx = await window.harness.RandomX.create();
      await randomx.prepare(key);
      const pending = [
        randomx.hashMany(key, Array<Uint8Array>(800).fill(input)),
        randomx.hash("77", input),
        randomx.seedHeight(1),
      ].map(outcome);
      await new Promise((resolve) => setTimeout(resolve, 100));
      const start = performance.now();
      randomx.dispose();
      randomx.dispose();
      const outcomes = await Promise.all(pending);
      const waited = performance.now() - start;
      const later = await Promise.all(
        [
          randomx.prepare(key),
          randomx.hash(key, input),
          randomx.hashMany(key, []),
          randomx.commitment(input, new Uint8Array(32)),
          randomx.seedHeight(1),
          randomx.verifyBlock({ seedHash: "00".repeat(32), hashingBlob: "", difficulty: 1 }),
        ].map(outcome),
      );
      return { outcomes: [...outcomes, ...later], waited };
    });
    expect(result.outcomes).toHaveLength(9);
    for (const outcome of result.outcomes) expect(outcome.code).toBe("disposed");
    expect(result.waited).toBeLessThan(50);
    await expectNoWorker(page);
  },
);
