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

test(
  "a file of very many fields and vectors does not hang the page",
  { tag: "@chromium" },
  async ({ view }) => {
    await view.go("#/compare");
    await view.until(submit);
    const choose = (vectors: number): Promise<void> =>
      view.of(
        "#compare-file",
        `{
        const fields = Array.from({ length: 40000 }, (_, at) => ["f" + at, 0]);
        const shared = { key: "", input: "", hash: "00".repeat(32) };
        const file = { ...Object.fromEntries(fields), ...shared, vectors: Array(${vectors}).fill({}) };
        const files = new DataTransfer();
        files.items.add(new File([JSON.stringify(file)], "own.json"));
        it.files = files.files;
        it.dispatchEvent(new Event("change", { bubbles: true }));
      }`,
      );
    await choose(150_000);
    await view.says("#compare-file-error", "own.json: expected 1 to 1000 vectors, got 150000.");
    // What all vectors share may stand in the file once.
    await choose(1000);
    await view.says("#compare-file-error", "");
  },
);
