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
  expect([await isShown("hash"), await isShown("seed-hash")]).toEqual([false, true]);
});
