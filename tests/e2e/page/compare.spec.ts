/** The view Compare: known answers in the browser's builds and the native ones. */
import { expect, test, visit, type Visit } from "../browsers/page.js";
import { readText } from "../support.js";
import { serveWith } from "../variants.js";

/** Each of four builds fills two caches. */
const RUN_TIMEOUT = 90_000;

const verdict = '[data-part="verdict"]';
const submit = ".compare-form [type=submit]";

const LABELS = "Browser, interpreter; Browser, JIT; Native, interpreter; Native, JIT, light";

const known = (
  JSON.parse(readText("tests/vectors/specification-hashes.json")) as {
    vectors: { version: number; key: string; input: string; hash: string }[];
  }
).vectors;

function altered(hash: string): string {
  return (hash.startsWith("0") ? "1" : "0") + hash.slice(1);
}

async function compare(view: Visit, query: string): Promise<void> {
  await view.go(`#/compare?${query}`);
  await view.until('.compare-form [value="native-jit"]:not(:disabled)');
  await view.click(submit);
}

test(
  "four builds agree; a wrong hash is shown beside the expected one",
  { tag: "@full" },
  async ({ view }) => {
    const builds = "browser-interpreter,browser-jit,native-interpreter,native-jit";
    await compare(view, `builds=${builds}&vectors=specification&threads=2&lanes=4`);
    // The verdict follows the builds once the visitor has edited a hash, but is not read aloud.
    await view.until('.compare-rows [data-verdict="right"]', RUN_TIMEOUT);
    await view.of(
      verdict,
      `{
        globalThis.written = [];
        const add = (records) => written.push(...records.map(() => it.textContent));
        new MutationObserver(add).observe(it, { childList: true });
      }`,
    );
    const last = ".compare-rows tbody tr:last-child input";
    await view.fill(last, "x");
    expect(await view.count(`${verdict}[aria-live="off"]`)).toBe(1);
    await view.says(verdict, `4 of 40 hashes are wrong: ${LABELS}.`, RUN_TIMEOUT);
    const written = (): Promise<string[]> => view.of(verdict, "written.splice(0)");
    expect((await written()).length).toBeGreaterThan(2);
    await view.until(`${verdict}:not([aria-live])`);
    await view.fill(last, known.at(-1)?.hash ?? "");
    await view.says(verdict, "All 40 hashes are right: 10 vectors in 4 builds.");
    expect(await view.count('.compare-rows td[data-verdict="right"]')).toBe(40);
    expect(await view.count('[data-part="totals"] tbody tr')).toBe(4);
    await view.until('[data-part="plot"] svg');
    // Every build has a time of its own, and no row repeats one.
    const times = await view.of<string[]>(
      '[data-part="totals"] tbody',
      "[...it.rows].map((row) => row.cells[6].innerText)",
    );
    for (const time of times) expect(Number(time)).toBeGreaterThan(0.1);
    expect(await view.text(".compare-rows tbody tr")).not.toMatch(/ ms/u);
    await view.expectAccessible("compare");

    const [first] = known;
    const wrong = altered(first?.hash ?? "");
    await view.fill(".compare-rows tbody tr input", wrong);
    await view.says(verdict, /^4 of 40 hashes are wrong: /u);
    // Screen readers read it once, however many keys were typed.
    await written();
    await view.of(
      last,
      `{
        for (const key of "0123456789ab") {
          it.value += key;
          it.dispatchEvent(new Event("input", { bubbles: true }));
        }
      }`,
    );
    await view.says(verdict, /^8 of 40 hashes are wrong: /u);
    expect(await written()).toHaveLength(1);
    await view.fill(last, known.at(-1)?.hash ?? "");
    await view.says(verdict, /^4 of 40 hashes are wrong: /u);
    expect(await view.count('.compare-rows td[data-verdict="wrong"]')).toBe(4);
    const cell = await view.text('.compare-rows td[data-verdict="wrong"]');
    expect(cell).toContain(first?.hash);
    expect(cell).toContain(wrong);
    await view.expectAccessible("compare-wrong");

    await view.fill(".compare-rows tbody tr input", "x");
    expect(await view.count('.compare-rows input[aria-invalid="true"]')).toBe(1);
    await view.fill(".compare-rows tbody tr input", first?.hash ?? "");
    await view.says(verdict, /^All 40 hashes are right/u);

    const json = JSON.parse(await view.saved('[data-part="json"]')) as {
      rows: { expected: string; results: Record<string, { hash: string; verdict: string }> }[];
      totals: { column: string; right: number; lanes: number[] }[];
    };
    expect(json.rows.map(({ expected }) => expected)).toEqual(known.map(({ hash }) => hash));
    expect(json.rows[9]?.results["native-jit"]).toMatchObject({
      hash: known[9]?.hash,
      verdict: "right",
    });
    expect(json.totals.map(({ right }) => right)).toEqual([10, 10, 10, 10]);
    const [interpreter, jit, ...native] = json.totals.map(({ lanes }) => lanes);
    expect([interpreter, jit]).toEqual([[4], [4]]);
    // The native build uses no more lanes than it has inputs of a key.
    for (const lanes of native) expect([1, 2, 3, 4]).toEqual(expect.arrayContaining(lanes));
    const lines = (await view.saved('[data-part="csv"]')).trim().split("\r\n");
    expect(lines).toHaveLength(11);
    expect(lines[1]).toContain(`${first?.hash},right,${first?.hash},`);
  },
);

test("an altered vector of a file is wrong in every build", async ({ view }) => {
  const [right, wrong] = known;
  if (!right || !wrong)
    throw new Error("tests/vectors/specification-hashes.json: there are no vectors");
  const file = { vectors: [right, { ...wrong, hash: altered(wrong.hash) }] };
  // The number of threads is reduced to what the server allows.
  await view.go("#/compare?builds=browser-jit,native-jit&threads=24&times=no");
  await view.until('.compare-form [value="native-jit"]:not(:disabled)');
  expect(await view.of("#compare-threads", "it.value === it.max")).toBe(true);
  const choose = async (text: string): Promise<void> =>
    view.of(
      "#compare-file",
      `{
        const files = new DataTransfer();
        files.items.add(new File([${JSON.stringify(text)}], "own.json"));
        it.files = files.files;
        it.dispatchEvent(new Event("change", { bubbles: true }));
      }`,
    );
  await choose('{"vectors":[{"key":"0"}]}');
  await view.says(
    '#compare-file-error[role="alert"]',
    /^own\.json: vector 1: expected "key" to be/u,
  );
  // Nothing is compared in its place.
  await view.click(submit);
  await expect.poll(() => view.hasFocus("#compare-file")).toBe(true);
  expect(await view.count(`${submit}:not([aria-disabled="true"])`)).toBe(1);
  await choose(JSON.stringify(file));
  // The file is read asynchronously.
  await view.until('#compare-file[aria-invalid="false"]');
  await view.click(submit);
  await view.says(
    verdict,
    "2 of 4 hashes of own.json are wrong: Browser, JIT; Native, JIT, light.",
    RUN_TIMEOUT,
  );
  // The rows are drawn after the verdict.
  await expect.poll(() => view.count('.compare-rows td[data-verdict="wrong"]')).toBe(2);
  expect(await view.text('.compare-rows td[data-verdict="wrong"]')).toContain(altered(wrong.hash));
  // No link leads to a file. Choosing a set drops the file.
  expect(await view.count(".compare-form .copy[hidden]")).toBe(1);
  await view.of('input[name="sets"][value="shares"]', "it.click()");
  expect(await view.of("#compare-file", "it.value")).toBe("");
  expect(await view.count(".compare-form .copy:not([hidden])")).toBe(1);
});

test(
  "the address holds the settings, and a cancelled run can be restarted",
  { tag: "@full" },
  async ({ view }) => {
    await view.go("#/compare?builds=browser-jit&vectors=shares&threads=1&lanes=3&times=no");
    await view.until(submit);
    expect(await view.of("#compare-lanes", "it.value")).toBe("3");
    expect(await view.count('input[name="columns"]:checked')).toBe(1);
    await view.fill("#compare-threads", "x");
    await view.click(submit);
    await view.until('#compare-threads[aria-invalid="true"]');
    expect(await view.hasFocus("#compare-threads")).toBe(true);
    // A change elsewhere leaves the focus where the visitor is.
    const lanes = "#compare-lanes";
    await view.of(lanes, "it.focus()");
    await view.of(lanes, 'it.dispatchEvent(new Event("change", { bubbles: true }))');
    expect(await view.hasFocus(lanes)).toBe(true);
    await view.until('#compare-threads[aria-invalid="true"]');
    await view.fill("#compare-threads", "2");
    await view.click('input[name="sets"][value="headers"]');
    const address = await view.of<string>("html", "location.hash");
    expect(decodeURIComponent(address)).toBe(
      "#/compare?builds=browser-jit&vectors=headers,shares&threads=2&lanes=3&times=no",
    );
    await view.click(submit);
    await view.until('.compare-rows [data-verdict="right"]', RUN_TIMEOUT);
    await view.click(".task button");
    await view.says(verdict, /hashes are right; the rest was cancelled\.$/u);
    await view.until(`${submit}:not([aria-disabled])`);
    // An address without builds does not choose other ones.
    await view.click('input[name="columns"]:checked');
    const none = await view.of<string>("html", "location.hash");
    expect(none).toContain("builds=&");
    await view.go("#/nothing");
    await view.go(none);
    await view.click(submit);
    await view.says(".problem p", "Choose a build to compare.");
    expect(await view.count('input[name="columns"]:checked')).toBe(0);
  },
);

test(
  "without isolation the time of a hash does not depend on the chosen threads",
  { tag: "@full" },
  async ({ started }) => {
    const none = { "Cross-Origin-Opener-Policy": "", "Cross-Origin-Embedder-Policy": "" };
    await serveWith({ headers: none }, async (address) => {
      const times: number[] = [];
      for (const threads of [1, 8]) {
        const query = `vectors=headers&builds=browser-jit&lanes=4&threads=${threads}`;
        const view = await visit(started, `#/compare?${query}`, address);
        await view.says('[data-part="native"]', /^The native build is not available/u);
        await view.click(submit);
        await view.until('[data-part="plot"] svg', RUN_TIMEOUT);
        const cells = "Number(it.rows[0].cells[6].innerText)";
        times.push(await view.of<number>('[data-part="totals"] tbody', cells));
        await view.tab.close();
      }
      const [one = 0, eight = 0] = times;
      expect(eight / one).toBeLessThan(3);
      expect(one / eight).toBeLessThan(3);
    });
  },
);

test("progress and outcome are in view without scrolling", { tag: "@full" }, async ({ view }) => {
  for (const [width, height] of [
    [1280, 800],
    [390, 844],
  ] as const) {
    await view.tab.resize(width, height);
    await view.go("#/nothing");
    await compare(view, "builds=browser-jit&vectors=specification&threads=1&times=no");
    const isInView = (selector: string): Promise<boolean> =>
      view.of(
        selector,
        "((box) => box.height > 0 && box.top >= 0 && box.bottom <= innerHeight)(it.getBoundingClientRect())",
      );
    await view.until('[data-part="task"] progress');
    expect(await isInView('[data-part="task"]'), `progress, ${width}`).toBe(true);
    await view.says(verdict, "All 10 hashes are right: 10 vectors in 1 build.", RUN_TIMEOUT);
    expect(await isInView(verdict), `verdict, ${width}`).toBe(true);
  }
  // The status covers no field that gets the focus, in either direction.
  for (const height of [640, 256]) {
    await view.tab.resize(390, height);
    const covered = await view.of<number>(
      '[data-part="status"]',
      `{
        const fields = [...document.querySelectorAll(".compare-rows input")];
        return [...fields, ...fields.toReversed()].filter((field) => {
          field.focus();
          const [a, b] = [it.getBoundingClientRect(), field.getBoundingClientRect()];
          return a.top < b.bottom && b.top < a.bottom;
        }).length;
      }`,
    );
    expect(covered, `${height}`).toBe(0);
    const isSticky = 'getComputedStyle(it).position === "sticky"';
    expect(await view.of('[data-part="status"]', isSticky), `${height}`).toBe(height > 480);
  }
});

test(
  "a comparison waits until the page knows which builds there are",
  { tag: "@chromium" },
  async ({ view }) => {
    await view.leave();
    await view.of(
      "html",
      `{
        const { fetch } = globalThis;
        globalThis.fetch = (url, ...more) =>
          url === "./api/info"
            ? new Promise((resolve) => {
                globalThis.answer = () => resolve(new Response("", { status: 404 }));
              })
            : fetch(url, ...more);
      }`,
    );
    await view.go("#/compare?vectors=headers&builds=browser-jit,native-jit&times=no");
    await view.click(submit);
    // The button looks disabled meanwhile, and a second click starts nothing.
    await view.of(submit, "it.click()");
    expect(await view.of('[data-part="task"]', "it.hidden")).toBe(true);
    await view.of("html", "{ answer(); }");
    await view.says(verdict, "All 8 hashes are right: 8 vectors in 1 build.", RUN_TIMEOUT);
  },
);

test("a build that starts can be cancelled", { tag: "@chromium" }, async ({ view }) => {
  await view.leave();
  // The worker never answers.
  await view.of(
    "html",
    "{ globalThis.Worker = class { postMessage() {} terminate() {} addEventListener() {} }; }",
  );
  await compare(view, "vectors=headers&builds=browser-jit&times=no");
  await view.until('.compare-rows [data-verdict="waiting"]');
  await view.click(".task button");
  await view.says(verdict, "0 of 8 hashes are right; the rest was cancelled.");
  await view.until(`${submit}:not([aria-disabled])`);
});

test(
  "hashes are right though the server frees the dataset late",
  { tag: "@chromium" },
  async ({ view }) => {
    await view.leave();
    // The server hashes in light mode, whatever memory it has.
    await view.of(
      "html",
      `{
        const { fetch } = globalThis;
        const error = { code: "timeout", message: "the dataset is still in use" };
        globalThis.fetch = async (url, options) => {
          if (url === "./api/info") {
            const info = await (await fetch(url, options)).text();
            return new Response(info.replaceAll('"available":false', '"available":true'), {
              headers: { "Content-Type": "application/json" },
            });
          }
          if (url === "./api/fast") {
            return options.method === "DELETE"
              ? Response.json({ error }, { status: 503 })
              : new Response('event: done\\ndata: {"lease":"a lease"}\\n\\n');
          }
          if (url !== "./api/hash") return fetch(url, options);
          return fetch(url, { ...options, body: options.body.replace('"fast"', '"light"') });
        };
      }`,
    );
    // There are two keys, so one lease ends between rows.
    await compare(view, "vectors=specification&builds=native-fast&times=no");
    await view.says(verdict, "All 10 hashes are right: 10 vectors in 1 build.", RUN_TIMEOUT);
    await view.until('[data-part="task"][data-done]');
    expect(await view.count(".problem")).toBe(0);
  },
);

test(
  "without the native server only the browser is compared",
  { tag: "@chromium" },
  async ({ started }) => {
    await serveWith({}, async (address) => {
      const view = await visit(
        started,
        "#/compare?vectors=headers&builds=browser-jit&times=no",
        address,
      );
      await view.says('[data-part="native"]', /^The native build is not available: .*npm start/u);
      expect(await view.count('input[name="columns"]:disabled')).toBe(3);
      await view.click(submit);
      await view.says(verdict, "All 8 hashes are right: 8 vectors in 1 build.", RUN_TIMEOUT);
      await view.tab.close();
    });
  },
);
