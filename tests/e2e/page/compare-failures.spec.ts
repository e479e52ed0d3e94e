/** The view Compare: builds that fail, and vectors that never arrive. */
import { expect, test } from "../browsers/page.js";

test(
  "a failure has the same words as in the other views",
  { tag: "@chromium" },
  async ({ view }) => {
    await view.leave();
    await view.of(
      "html",
      "{ globalThis.Worker = class { constructor() { throw new Error(); } }; }",
    );
    await view.go("#/compare?vectors=headers&builds=browser-jit&times=no");
    await view.click(".compare-form [type=submit]");
    await view.says(
      '[data-part="verdict"]',
      /^8 of 8 hashes could not be computed: The worker of this page stopped\. .* \(worker-failed: .*\)$/u,
    );
    await view.until('.compare-rows [data-verdict="failed"]');
    expect(await view.text('.compare-rows [data-verdict="failed"]')).toMatch(
      /^failed The worker of this page stopped\. .* \(worker-failed: .*\)$/u,
    );
  },
);

test("vectors that never arrive can be cancelled", { tag: "@chromium" }, async ({ view }) => {
  await view.leave();
  await view.of(
    "html",
    `{
      const { fetch } = globalThis;
      globalThis.fetch = (url, options) => {
        if (!String(url).includes("mainnet-headers")) return fetch(url, options);
        globalThis.fetch = fetch;
        return new Promise((_resolve, reject) => {
          options?.signal?.addEventListener("abort", () => reject(options.signal.reason));
        });
      };
    }`,
  );
  const submit = ".compare-form [type=submit]";
  const task = '[data-part="task"]';
  await view.go("#/compare?vectors=headers&builds=browser-jit&times=no");
  await view.click(submit);
  await view.click(`${task} button`);
  await view.says(task, /cancelled/u);
  await view.click(submit);
  await view.says('[data-part="verdict"]', "All 8 hashes are right: 8 vectors in 1 build.");
});
