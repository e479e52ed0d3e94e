/** The view Bench: rates over time, the phases of a hash, and parts beside published figures. */
import type { Key } from "../browsers/browser.js";
import { expect, test, visit } from "../browsers/page.js";
import { readText } from "../support.js";
import { serveWith } from "../variants.js";

/** A measurement fills several caches, on a machine that may be busy. */
const RUN_TIMEOUT = 90_000;

const verdict = '[data-part="verdict"]';

test(
  "both builds are measured, and parts stand beside published figures",
  { tag: "@full" },
  async ({ view }) => {
    await view.go("#/bench?threads=2&seconds=2");
    await view.until('[data-part="measure-native"]:not([aria-disabled])');
    await view.click(".bench-form [type=submit]");
    const words =
      /^RandomX v1: [\d.]+ hashes per second in this browser \((?:JIT|interpreter), (?:one worker|2 workers), 8 lanes\), [\d.]+ natively, [\d.]+ times as many\.$/u;
    await view.says(verdict, words, RUN_TIMEOUT);
    expect(await view.count('[data-part="rate-plot"] svg')).toBe(1);
    expect(await view.count(".legend li")).toBe(2);
    await view.click('[data-part="phases-plot"] summary');
    await view.until('[data-part="phases-plot"] tbody tr:last-child:nth-child(6)');

    const cells = async (row: string): Promise<string[]> =>
      view.of(`[data-row="${row}"]`, `[...it.querySelectorAll("td")].map((td) => td.innerText)`);
    // Versions, modes and threads differ, and each number of the row says which ones are its own.
    const hashes = (await cells("Hash")).slice(1).map((text) => text.replace(/^[\d,.]+\s+/u, ""));
    expect(hashes[0]).toMatch(/^v1 light, (?:1 thread|2 threads)$/u);
    expect(hashes.slice(1)).toEqual(["–", "v1 fast, all threads", "v1 fast, all threads"]);
    const [, , native, ...published] = await cells("AesHash1R");
    expect(native).toBe("–");
    const file = JSON.parse(readText("web/views/bench/published.json")) as {
      rows: { what: string; values: number[] }[];
    };
    const row = file.rows.find(({ what }) => what === "AesHash1R");
    expect(published.map((text) => Number(text.replaceAll(",", "")))).toEqual(row?.values);
    for (const { what } of file.rows) {
      const [, here] = await cells(what);
      expect(Number(/[\d,.]+/u.exec(here ?? "")?.[0].replaceAll(",", "")), what).toBeGreaterThan(1);
    }
    expect(await view.text('[data-part="source"]')).toContain("modernRX");
    await view.expectAccessible("bench");

    // A new measurement hides the earlier verdict and pictures. The table keeps its rates, which name their settings.
    await view.fill("#bench-seconds", "60");
    await view.of("#bench-version", `it.value = "2"`);
    await view.click(".bench-form [type=submit]");
    await view.click('[data-part="task"] button');
    await view.says('[data-part="task"] [role="status"]', "cancelled");
    expect(await view.count(`${verdict}[hidden]`)).toBe(1);
    expect(await view.count('[data-part="phases"][hidden]')).toBe(1);
    expect((await cells("Hash"))[1]).toContain("v1 light");
  },
);

test(
  "a measurement can be cancelled, and wrong numbers do not start one",
  { tag: "@full" },
  async ({ view }) => {
    await view.go("#/bench?seconds=60&lanes=2&version=2&engine=interpreter");
    await view.until(".bench-form [type=submit]");
    expect(await view.of("#bench-lanes", "it.value")).toBe("2");
    expect(await view.of("#bench-version", "it.value")).toBe("2");
    expect(await view.of("#bench-engine", "it.value")).toBe("interpreter");
    await view.fill("#bench-seconds", "1000");
    await view.click(".bench-form [type=submit]");
    await view.until('#bench-seconds[aria-invalid="true"]');
    await view.says("#bench-seconds-error", /^Expected a whole number from 1 to 120\.$/u);
    expect(await view.hasFocus("#bench-seconds")).toBe(true);
    // A change elsewhere leaves the focus where the visitor is.
    await view.of("#bench-engine", "it.focus()");
    await view.of("#bench-engine", 'it.dispatchEvent(new Event("change", { bubbles: true }))');
    expect(await view.hasFocus("#bench-engine")).toBe(true);
    await view.until('#bench-seconds[aria-invalid="true"]');
    await view.fill("#bench-seconds", "60");
    await view.click(".bench-form [type=submit]");
    // The table grows with each new picture. Its fold stays open, and keeps the focus.
    const fold = '[data-part="rate-plot"] summary';
    await view.until(fold, RUN_TIMEOUT);
    await view.click(fold);
    await view.of(fold, "it.focus()");
    const rows = '[data-part="rate-plot"] tbody tr';
    const before = await view.count(rows);
    await view.until(`${rows}:nth-child(${before + 2})`, RUN_TIMEOUT);
    expect(await view.hasFocus(fold)).toBe(true);
    expect(await view.count('[data-part="rate-plot"] .scroll')).toBe(1);
    await view.click('[data-part="task"] button');
    await view.says('[data-part="task"]', /cancelled/u);
    await view.until(".bench-form [type=submit]:not([aria-disabled])");
  },
);

test(
  "a click that leaves a wrong or corrected number is not lost",
  { tag: "@chromium" },
  async ({ view }) => {
    await view.go("#/bench?threads=1&lanes=1");
    const [seconds, submit] = ["#bench-seconds", ".bench-form [type=submit]"];
    /** Types a number as a visitor does: the field reports the change when it loses the focus. */
    const type = async (digit: Key): Promise<void> => {
      await view.until(seconds);
      await view.of(seconds, "it.select()");
      await view.tab.press(digit);
    };
    await type("0");
    await view.click(submit);
    await view.says(`${seconds}-error`, /^Expected a whole number/u);
    await expect.poll(() => view.hasFocus(seconds)).toBe(true);
    await type("1");
    await view.click(submit);
    await view.until('[data-part="task"] progress');
    expect(await view.text(`${seconds}-error`)).toBe("");
  },
);

test(
  "without the native server only the browser is measured",
  { tag: "@full" },
  async ({ started }) => {
    await serveWith({}, async (address) => {
      const view = await visit(started, "#/bench?threads=1&seconds=1", address);
      await view.says('[data-part="native"]', /^The native build is not available: /u);
      expect(await view.count('[data-part="measure-native"][aria-disabled="true"]')).toBe(1);
      await view.click(".bench-form [type=submit]");
      await view.says(verdict, /The native build is not available for comparison\.$/u, RUN_TIMEOUT);
      await view.tab.close();
    });
  },
);

test(
  "Compare and Bench run in a browser whose AbortSignal has only events",
  { tag: "@chromium" },
  async ({ view }) => {
    await view.leave();
    await view.of(
      "html",
      `{
        delete AbortSignal.any;
        delete AbortSignal.timeout;
        delete AbortSignal.prototype.throwIfAborted;
      }`,
    );
    await view.go("#/compare?vectors=headers&builds=browser-jit,native-jit&times=no");
    await view.click(".compare-form [type=submit]");
    await view.says(verdict, "All 16 hashes are right: 8 vectors in 2 builds.", RUN_TIMEOUT);
    await view.go("#/bench?threads=1&seconds=1");
    await view.click(".bench-form [type=submit]");
    await view.says(verdict, / natively, /u, RUN_TIMEOUT);
  },
);
