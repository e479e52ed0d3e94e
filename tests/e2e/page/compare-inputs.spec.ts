/** The view Compare with a server and files that send what it does not expect. */
import { expect, test } from "../browsers/page.js";

const verdict = '[data-part="verdict"]';
const submit = ".compare-form [type=submit]";

for (const [what, answer] of [
  ["never describes itself", "new Promise(() => {})"],
  ["describes itself wrongly", 'Response.json({ name: "randomx" })'],
] as const) {
  test(`a server that ${what} is done without`, { tag: "@chromium" }, async ({ view }) => {
    await view.leave();
    await view.of(
      "html",
      `{
        const { fetch } = globalThis;
        const late = ({ signal }) => new Promise((_resolve, reject) => {
          signal?.addEventListener("abort", () => reject(signal.reason));
        });
        globalThis.fetch = (url, options) =>
          url === "./api/info" ? Promise.race([late(options), ${answer}]) : fetch(url, options);
      }`,
    );
    await view.go("#/compare?vectors=headers&builds=browser-jit,native-jit&times=no");
    await view.click(submit);
    await view.says(verdict, "All 8 hashes are right: 8 vectors in 1 build.");
    await view.says('[data-part="native"]', /^The native build is not available/u);
    expect(await view.count('input[name="columns"]:disabled')).toBe(3);
  });
}
