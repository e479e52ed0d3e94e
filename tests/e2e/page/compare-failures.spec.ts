/** The view Compare: what it says about builds that fail. */
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
