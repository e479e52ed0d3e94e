/** The report of the view Verify when a verification fails, or an altered block is saved. */
import { expect, test } from "../browsers/page.js";

const report = "#report";

test("nothing can be copied before it is there", { tag: "@chromium" }, async ({ view }) => {
  await view.leave();
  // The workers never answer.
  await view.of(
    "html",
    "{ globalThis.Worker = class extends EventTarget { postMessage() {} terminate() {} }; }",
  );
  await view.go("#/verify?block=3727301");
  await view.until(`${report}[data-state="waiting"]`);
  const isShown = (name: string): Promise<boolean> =>
    view.of(`[data-copy="${name}"] .copy`, "it.checkVisibility({ visibilityProperty: true })");
  const names = ["id", "hash", "seed-hash"];
  expect(await Promise.all(names.map(isShown))).toEqual([false, false, true]);
  // The buttons cannot be used yet, but they can have the focus.
  const save = `${report} .actions button + button`;
  expect(await view.of(save, "(it.focus(), it.ariaDisabled)")).toBe("true");
  expect(await view.hasFocus(save)).toBe(true);
  expect(await view.of(save, "(it.click(), document.querySelector('a[download]'))")).toBeNull();

  // A cancelled verification does not wait for the workers.
  await view.click(`${report} .task button`);
  await view.until(`${report}[data-state="cancelled"]`);
  // Nothing looks as if it were computed, or still to come.
  for (const row of ["id-row", "hash-row"])
    expect(await view.of(`[data-place="${row}"]`, "it.hidden"), row).toBe(true);
  await view.says('[data-place="epoch"]', /^There is no result,/u);
});

test("a verification that fails leaves no check open", { tag: "@chromium" }, async ({ view }) => {
  await view.leave();
  await view.of("html", "{ globalThis.Worker = class { constructor() { throw new Error(); } }; }");
  await view.go("#/verify?block=3727301");
  await view.until(`${report}[data-state="failed"]`);
  expect(await view.count('[data-check][data-outcome="skipped"]')).toBe(9);
  expect(await view.count("[data-check]")).toBe(9);
  await view.says('[data-check="proof-of-work"]', /not checked\s+There is no result\./u);
  for (const row of ["id-row", "hash-row"])
    expect(await view.of(`[data-place="${row}"]`, "it.hidden"), row).toBe(true);
  await view.says('[data-place="epoch"]', /^There is no result,/u);
});

test("an altered block is not saved as a real one", { tag: "@chromium" }, async ({ view }) => {
  await view.go("#/verify?block=3727301");
  await view.until(`${report}[data-state="valid"]`);
  // The page has no rules for the version in the first byte, but the real block has another one.
  await view.click('[data-byte="0"]');
  await view.until(`${report}[data-state="invalid"]`);
  const origin = "A real block of Monero’s main chain; byte 0 is changed";
  await view.says('[data-place="origin"]', origin);
  const saved = await view.saved(`${report} .actions button + button`);
  expect(JSON.parse(saved)).toMatchObject({ origin, status: "invalid", valid: false });
  await view.click("#put-back");
  await view.until(`${report}[data-state="valid"]`);
  await view.says('[data-place="origin"]', "A real block of Monero’s main chain");
});

test("the id is called what it is", { tag: "@chromium" }, async ({ view }) => {
  await view.go("#/verify?block=3727301");
  await view.until(`${report}[data-state="valid"]`);
  const name = "Keccak-256 of the length of the hashing blob, and the blob";
  expect(await view.of('[data-check="id"] dt', "it.textContent")).toBe(name);
});

test("a link to an unknown example says so", { tag: "@chromium" }, async ({ view }) => {
  const problem = '#example-error [role="alert"]';
  await view.go("#/verify?block=1");
  await view.says(problem, "The examples have no block “1”. This is another one.");
  await view.until('#report[data-state="valid"]');
  await view.says(problem, /block “1”/u);
  await view.go("#/verify?block=3727301");
  await view.says("#report-title", "Block 3,727,301");
  expect(await view.count(problem)).toBe(0);
});

test(
  "an example that was not loaded can be loaded again",
  { tag: "@chromium" },
  async ({ view }) => {
    await view.leave();
    await view.of(
      "html",
      `{
      const { fetch } = globalThis;
      globalThis.fetch = () => {
        globalThis.fetch = fetch;
        return Promise.reject(new TypeError("no network"));
      };
    }`,
    );
    await view.go("#/verify");
    await view.says("#example-error p", /^The server of this page does not answer\./u);
    await view.click("#example-error button");
    expect(await view.hasFocus("#example")).toBe(true);
    await view.until('#report[data-state="valid"]');
    expect(await view.count("#example-error *")).toBe(0);
  },
);

test(
  "a block that is still being loaded replaces the one before it",
  { tag: "@chromium" },
  async ({ view }) => {
    await view.go("#/verify?block=3727301");
    await view.until(`${report}[data-state="valid"]`);
    // The next file never arrives, and the page does not wait long for it.
    await view.of(
      "html",
      `{
        const { fetch, setTimeout } = globalThis;
        globalThis.fetch = (_url, { signal }) => {
          globalThis.fetch = fetch;
          return new Promise((_resolve, reject) => {
            signal.addEventListener("abort", () => reject(signal.reason));
          });
        };
        globalThis.setTimeout = (work, ms, ...given) => {
          if (ms !== 30_000) return setTimeout(work, ms, ...given);
          globalThis.giveUp = work;
          return 0;
        };
      }`,
    );
    await view.of("#example", `{ it.selectedIndex = 0; it.dispatchEvent(new Event("change")); }`);
    await view.says("#report-title", "Loading the block…");
    expect(await view.of(`${report} .verdict`, "it.checkVisibility()")).toBe(false);
    await view.of("html", "giveUp()");
    await view.says("#example-error p", /^The server of this page does not answer\./u);
    await view.says("#report-title", "No block yet");
    await view.click("#example-error button");
    await view.until(`${report}[data-state="valid"]`);
    await view.says("#report-title", "Block 3,455,947");
  },
);
