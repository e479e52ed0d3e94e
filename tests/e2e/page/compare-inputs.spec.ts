/** The view Compare with a server and files that send what it does not expect. */
import { expect, test, type Visit } from "../browsers/page.js";
import { readText } from "../support.js";

const verdict = '[data-part="verdict"]';
const submit = ".compare-form [type=submit]";

/** Chooses a file, whose content is an expression. */
function choose(view: Visit, content: string): Promise<void> {
  return view.of(
    "#compare-file",
    `{
      const files = new DataTransfer();
      files.items.add(new File([${content}], "own.json"));
      it.files = files.files;
      it.dispatchEvent(new Event("change", { bubbles: true }));
    }`,
  );
}

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
    // The button reacts before the server has answered.
    expect(await view.of(submit, "it.ariaDisabled")).toBe("true");
    await view.says(verdict, "All 8 hashes are right: 8 vectors in 1 build.");
    expect(await view.of(submit, "it.ariaDisabled")).toBeNull();
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
    const fields = 'Array.from({ length: 40000 }, (_, at) => ["f" + at, 0])';
    const shared = '{ key: "", input: "", hash: "00".repeat(32) }';
    const file = (vectors: number): string =>
      `JSON.stringify({ ...Object.fromEntries(${fields}), ...${shared}, vectors: Array(${vectors}).fill({}) })`;
    await choose(view, file(150_000));
    await view.says("#compare-file-error", "own.json: expected 1 to 1000 vectors, got 150000.");
    // Fields that all vectors share may stand in the file once.
    await choose(view, file(1000));
    await view.says("#compare-file-error", "");
  },
);

test("files and fields that are too long are refused", { tag: "@chromium" }, async ({ view }) => {
  await view.go("#/compare");
  await view.until(submit);
  const problem = "#compare-file-error";
  await choose(view, `" ".repeat(${(1 << 20) + 1})`);
  await view.says(problem, "own.json: expected at most 1048576 bytes, got 1048577.");
  for (const field of ["key", "input"]) {
    const file = (bytes: number): string => {
      const vector = { key: "", input: "", hash: "00".repeat(32), [field]: "00".repeat(bytes) };
      return JSON.stringify(JSON.stringify({ vectors: [vector] }));
    };
    await choose(view, file(1 << 16));
    await view.says(problem, "");
    await choose(view, file((1 << 16) + 1));
    const most = `own.json: vector 1: expected "${field}" to be at most 131072 hex digits, two a byte.`;
    await view.says(problem, most);
  }
});

/** Drops a file on the page, in JavaScript in which `it` is an element. */
function dropping(content: string): string {
  return `{
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([${JSON.stringify(content)}], "own.json"));
    it.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
  }`;
}

test(
  "a file that is dropped during a run replaces the vectors of the next",
  { tag: "@chromium" },
  async ({ view }) => {
    await view.go("#/compare?vectors=headers&builds=browser-jit&times=no");
    await view.until(submit);
    const results = '[data-part="results"]';
    // The page drops it itself as soon as the run shows its results: the run may be short.
    await view.of(
      results,
      `{
        new MutationObserver((_changes, observer) => {
          observer.disconnect();
          ${dropping(readText("tests/vectors/specification-hashes.json"))}
          it.dataset.wasRunning = document.querySelector(${JSON.stringify(submit)}).ariaDisabled;
        }).observe(it, { attributeFilter: ["hidden"] });
      }`,
    );
    await view.click(submit);
    await view.says(verdict, "All 8 hashes are right: 8 vectors in 1 build.");
    expect(await view.of(results, "it.dataset.wasRunning")).toBe("true");
    expect(await view.text("#compare-file-error")).toBe("");
    await view.click(submit);
    await view.says(verdict, "All 10 hashes of own.json are right: 10 vectors in 1 build.");
  },
);

test("a dropped file without vectors is refused", { tag: "@chromium" }, async ({ view }) => {
  await view.go("#/compare?vectors=headers&builds=browser-jit&times=no");
  await view.click(submit);
  await view.says(verdict, "All 8 hashes are right: 8 vectors in 1 build.");
  await view.of("h1", dropping("{}"));
  await view.says("#compare-file-error", 'own.json: expected a list "vectors".');
  expect(await view.of("#compare-file", "it.files[0].name")).toBe("own.json");
  // The results stay.
  await view.says(verdict, "All 8 hashes are right: 8 vectors in 1 build.");
});
