/** The view Explore: its figures belong to the chosen hash and agree with each other. */
import { setTimeout as pause } from "node:timers/promises";
import { headers as served } from "../../../vite.config.js";
import { expect, test, visit, type Visit } from "../browsers/page.js";
import { readText } from "../support.js";
import { serveWith } from "../variants.js";

const { vectors } = JSON.parse(readText("tests/vectors/specification-hashes.json")) as {
  vectors: { version: 1 | 2; key: string; input: string; hash: string }[];
};

const status = '[data-part="status"]';
const inside = "#explore-form [type=submit]";
const cancel = '[data-part="progress"] button';

/** The address that explores a vector, and the vector's hash. */
function vector(version: 1 | 2, more: Record<string, string>): { hash: string; address: string } {
  const found = vectors.find((vector) => vector.version === version);
  if (!found)
    throw new Error(`specification-hashes.json: there is no vector of version ${version}`);
  const { key, input, hash } = found;
  const query = { key: `0x${key}`, input: `0x${input}`, version: String(version), ...more };
  return { hash, address: `#/explore?${new URLSearchParams(query).toString()}` };
}

async function untilCounted(view: Visit, hashes: number): Promise<void> {
  await view.says(status, new RegExp(`distributions are of ${hashes} hashes`, "u"), 60_000);
}

/** The numbers in a row of the document's table: the published one, then the counted one. */
async function documented(view: Visit, what: string): Promise<number[]> {
  const text = await view.of<string>(
    '[data-part="document"]',
    `[...it.rows].find((row) => row.innerText.includes(${JSON.stringify(what)})).innerText`,
  );
  const [, ...cells] = text.split("\t");
  return cells.map((cell) => Number(/[\d.]+(?:e\+\d+)?/u.exec(cell)?.[0]));
}

test("one hash from inside, beside the document", { tag: "@chromium" }, async ({ view }) => {
  const { hash, address } = vector(1, { hashes: "4" });
  await view.go(address);
  await untilCounted(view, 4);
  expect(await view.text(status)).toContain(hash);

  // The program: every line has run, and branches are marked.
  expect(await view.count('[data-part="listing"] tbody tr')).toBe(256);
  const branches = await view.count('[data-part="listing"] [data-kind="control"]');
  expect(branches).toBeGreaterThan(5);
  const runs = await view.of<number[]>(
    '[data-part="listing"] tbody',
    `[...it.rows].map((row) => Number(row.cells[3].innerText.replace(",", "")))`,
  );
  expect(Math.min(...runs)).toBe(2048);
  expect(Math.max(...runs)).toBeGreaterThan(2048);

  // The map: the red points add up to the number of overwritten bytes.
  const points = await view.of<number>(
    "canvas",
    `[...new Uint32Array(it.getContext("2d").getImageData(0, 0, 512, 512).data.buffer)]
      .filter((pixel) => (pixel & 0xff) === 196).length`,
  );
  expect(await view.text('[data-part="map"]')).toContain(
    `${new Intl.NumberFormat("en").format(8 * points)} bytes`,
  );

  for (const [what, tolerance] of [
    ["Reads of a program", 0.15],
    ["Writes of a program", 0.25],
    ["Overwritten", 0.06],
    ["Branches that are taken", 0.15],
    ["Instructions of a SuperscalarHash", 0.05],
    ["Longest chain", 0.1],
  ] as const) {
    const numbers = await documented(view, what);
    const [published = 0, here = 0] = numbers;
    expect(Math.abs(here / published - 1), `${what}: ${numbers.join(" ")}`).toBeLessThan(tolerance);
  }

  // A table beside each picture has its numbers.
  for (const part of [
    "registers",
    "instructions",
    "group-f",
    "group-e",
    "program-times",
    "ports",
  ]) {
    const place = `[data-part="${part}"]`;
    expect(await view.count(`${place} svg[role="img"][aria-label]`), part).toBe(1);
    await view.click(`${place} summary`);
    await view.until(`${place} tbody tr:nth-child(3)`);
  }
  const counted = await view.of<number>(
    '[data-part="group-e"] tbody',
    `[...it.rows].reduce((sum, row) => sum + Number(row.cells[1].innerText.replaceAll(",", "")), 0)`,
  );
  expect(Math.abs(counted / (4 * 8 * 2048 * 8) - 1)).toBeLessThan(0.001);

  // Pictures are readable, name their last bar, and describe the mark below the pointer.
  const sizes = await view.of<number[]>(
    "main",
    `[...it.querySelectorAll(".plot-picture text")].map((each) => parseFloat(getComputedStyle(each).fontSize))`,
  );
  expect(sizes.length).toBeGreaterThan(0);
  expect(Math.min(...sizes)).toBeGreaterThanOrEqual(12);
  const times = '[data-part="program-times"]';
  expect(await view.of(`${times} svg`, "it.textContent")).toContain("≥");
  await view.of(
    `${times} svg`,
    `{
      const { left, width, top, height } = [...it.querySelectorAll("rect")].at(-1).getBoundingClientRect();
      const place = { clientX: left + width / 2, clientY: top + height / 2 };
      it.dispatchEvent(new PointerEvent("pointermove", place));
    }`,
  );
  await view.says(`${times} .plot-tip:not([hidden])`, /[\d.]+ ms or more/u);
});

test(
  "version, program, register and function can be chosen",
  { tag: "@full" },
  async ({ view }) => {
    const { hash, address } = vector(2, { hashes: "4", program: "8" });
    await view.go(address);
    await view.says(status, new RegExp(hash, "u"), 60_000);
    await view.until('[data-part="registers"] svg');
    expect(await view.count('[data-part="listing"] tbody tr')).toBe(384);
    expect(await view.of("#explore-program", "it.value")).toBe("8");

    const choose = async (field: string, value: string, part: string): Promise<void> => {
      const picture = `document.querySelector('[data-part="${part}"] svg').outerHTML`;
      const before = await view.of<string>("html", picture);
      await view.of(
        field,
        `{ it.value = ${JSON.stringify(value)}; it.dispatchEvent(new Event("change")); }`,
      );
      await expect.poll(() => view.of<string>("html", picture)).not.toBe(before);
    };
    await choose("#explore-register", "e3", "registers");
    await view.says('[data-part="registers"] figcaption', /halves of e3/u);
    await untilCounted(view, 4);
    await choose("#explore-function", "5", "ports");

    await view.fill("#explore-input", "");
    await view.click(inside);
    await view.says("#explore-input-error", "Input: expected a value, got nothing.");
    expect(await view.hasFocus("#explore-input")).toBe(true);
    await view.fill("#explore-input", "0x123");
    await view.click(inside);
    await view.says("#explore-input-error", /even number of hex digits/u);
  },
);

test("work can be cancelled, restarted, and left", { tag: "@full" }, async ({ view }) => {
  await view.go("#/explore?hashes=256");
  await view.click(cancel);
  await view.says(status, /^Cancelled/u);
  await view.until(`${cancel}[aria-disabled="true"]`);
  // A function can be chosen after that too.
  const ports = '[data-part="ports"] svg';
  const drawn = `document.querySelector('${ports}')?.outerHTML ?? ""`;
  const before = await view.of<string>("html", drawn);
  await view.of("#explore-function", `{ it.value = "5"; it.dispatchEvent(new Event("change")); }`);
  await expect.poll(() => view.of<string>("html", drawn)).not.toBe(before);
  // While hashes are counted, it is shown at once, and Cancel does not stop that.
  await view.click(inside);
  await view.says(status, /^The hash is/u, 60_000);
  const fifth = await view.of<string>("html", drawn);
  await view.of("#explore-function", `{ it.value = "2"; it.dispatchEvent(new Event("change")); }`);
  await view.click(cancel);
  await expect.poll(() => view.of<string>("html", drawn)).not.toBe(fifth);
  await view.says(status, /^Cancelled/u);
  await view.of("#explore-hashes", `it.value = "4"`);
  await view.click(inside);
  await untilCounted(view, 4);
  expect(await view.of("html", "location.hash")).toBe("#/explore?hashes=4");

  // A hash that is complete stays so, if the next one is not started.
  await view.fill("#explore-key", "0x123");
  await view.click(inside);
  await view.until('#explore-key[aria-invalid="true"]');
  await view.says(status, /^The hash is .* distributions are of 4 hashes\.$/u);

  // The pictures of one hash do not stay beside another one.
  const other = vector(2, {});
  await view.go(`${other.address}&hashes=256`);
  await view.says(status, `The hash is ${other.hash}.`, 60_000);
  await view.says('[data-part="instructions"]', "No hashes counted yet.");
  expect(await view.count('[data-part="hash-times"] svg')).toBe(0);
  await view.click(cancel);
  await view.says(status, `Cancelled. The hash is ${other.hash}.`);
  expect(await view.count('[data-part="listing"] tbody tr')).toBe(384);
  await view.says('[data-part="here"]', "Here, version 2");
  // Those of one key do not stay beside another one's.
  await view.fill("#explore-key", "another key");
  const parts = ["status", "listing", "map", "ports"].map((part) => `[data-part="${part}"]`);
  const texts = await view.of<string[]>(
    inside,
    `{
      it.click();
      document.querySelector(${JSON.stringify(cancel)}).click();
      return ${JSON.stringify(parts)}.map((part) => document.querySelector(part).innerText.trim());
    }`,
  );
  expect(texts).toEqual(["Cancelled.", ...Array<string>(3).fill("No hash explored yet.")]);

  // Screen readers get each state once, however often its progress is reported.
  await view.of("#explore-hashes", `it.value = "4"`);
  await view.of(
    status,
    `{
      globalThis.written = [];
      new MutationObserver(() => written.push(it.textContent)).observe(it, { childList: true });
    }`,
  );
  await view.click(inside);
  await untilCounted(view, 4);
  const written = await view.of<string[]>("html", "written");
  expect(written.join("\n")).toContain("Filling the key’s cache");
  expect(written).toEqual([...new Set(written)]);

  await view.go("#/explore?hashes=256");
  await view.says(status, /^The hash is/u);
  await view.leave();
  await view.tab.back();
  await view.says(status, /^The hash is/u, 60_000);
});

test(
  "a hash that was cancelled is not drawn when it is ready",
  { tag: "@chromium" },
  async ({ view }) => {
    await view.leave();
    await view.of(
      "html",
      `{
        globalThis.answers = 0;
        globalThis.Worker = class extends Worker {
          constructor(...given) {
            super(...given);
            this.addEventListener("message", ({ data }) => { answers += data.type === "answer"; });
          }
        };
      }`,
    );
    const { hash, address } = vector(1, { hashes: "4" });
    await view.go(address);
    await untilCounted(view, 4);
    const listing = await view.text('[data-part="listing"]');
    const answers = await view.of<number>("html", "answers");
    await view.of(
      status,
      `new MutationObserver(() => {
        if (it.textContent === "Exploring one hash…") document.querySelector('${cancel}').click();
      }).observe(it, { childList: true })`,
    );
    await view.fill("#explore-input", "another input");
    await view.click(inside);
    const words = `Cancelled. The hash is ${hash}. The distributions are of 4 hashes.`;
    await view.says(status, words);
    // The key's function, and the hash.
    await expect.poll(() => view.of("html", "answers")).toBe(answers + 2);
    await pause(500);
    expect(await view.text(status)).toBe(words);
    expect(await view.text('[data-part="listing"]')).toBe(listing);
    expect(await view.count('[data-part="registers"] svg')).toBe(1);
  },
);

test(
  "a run that ends while its pictures are drawn leaves the next run's Cancel alone",
  { tag: "@chromium" },
  async ({ view }) => {
    await view.go("#/explore?hashes=4");
    await view.until('[data-part="instructions"]');
    await view.of(
      '[data-part="instructions"]',
      `new MutationObserver((_records, observer) => {
        if (!it.querySelector("svg")) return;
        observer.disconnect();
        location.hash = "#/explore?hashes=256";
      }).observe(it, { childList: true, subtree: true })`,
    );
    await expect
      .poll(() => view.of("html", "location.hash"), { timeout: 60_000 })
      .toMatch(/=256$/u);
    await pause(500);
    expect(await view.count(`${cancel}:not([aria-disabled])`)).toBe(1);
    await view.click(cancel);
    await view.says(status, /^Cancelled/u);
  },
);

test(
  "a failure that is explained late leaves the next run alone",
  { tag: "@full" },
  async ({ view }) => {
    await view.leave();
    // The worker dies, and the server does not say whether it still runs.
    await view.of(
      "html",
      `{
      const real = { Worker, fetch };
      globalThis.Worker = class {
        constructor() { setTimeout(() => this.onerror(new Event("error", { cancelable: true }))); }
        postMessage() {}
        terminate() {}
      };
      globalThis.fetch = (url, ...more) =>
        url === "./"
          ? new Promise((resolve) => { globalThis.answer = () => resolve(new Response()); })
          : real.fetch(url, ...more);
      globalThis.revive = () => Object.assign(globalThis, real);
    }`,
    );
    await view.go("#/explore?hashes=4");
    await expect.poll(() => view.of("html", `"answer" in globalThis`)).toBe(true);
    await view.of("html", "{ revive(); }");
    await view.click(inside);
    await view.until(`${cancel}:not([aria-disabled])`);
    // Long enough for what comes after the answer.
    await view.of("html", "new Promise((resolve) => setTimeout(resolve, 100, answer()))");
    expect(await view.text('[data-part="problem"]')).toBe("");
    expect(await view.count(`${cancel}:not([aria-disabled])`)).toBe(1);
    await untilCounted(view, 4);
  },
);

test(
  "the reason of a failure stays when another function is chosen",
  { tag: "@chromium" },
  async ({ view }) => {
    await view.leave();
    // The first worker generates the functions, and the second one cannot start.
    await view.of(
      "html",
      `{
        let count = 0;
        const real = Worker;
        globalThis.Worker = class {
          constructor(...given) {
            count += 1;
            if (count > 1) throw new Error();
            return new real(...given);
          }
        };
      }`,
    );
    const problem = '[data-part="problem"] p';
    await view.go("#/explore?hashes=4");
    await view.says(problem, /Unexpected error/u);
    const before = await view.of('[data-part="ports"] svg', "it.outerHTML");
    await view.of(
      "#explore-function",
      `{ it.value = "5"; it.dispatchEvent(new Event("change")); }`,
    );
    await expect.poll(() => view.of('[data-part="ports"] svg', "it.outerHTML")).not.toBe(before);
    await view.says(problem, /Unexpected error/u);
  },
);

test("an address that is wrong has nothing to cancel", { tag: "@chromium" }, async ({ view }) => {
  await view.go("#/explore?key=0xzz");
  await view.says("#explore-key-error", /expected/u);
  expect(await view.count(cancel)).toBe(0);
  await view.fill("#explore-key", "key");
  await view.click(inside);
  await view.until(`${cancel}:not([aria-disabled])`);
});

test(
  "without WebAssembly the view reports what is missing",
  { tag: "@full" },
  async ({ started }) => {
    const without = served["Content-Security-Policy"].replace(" 'wasm-unsafe-eval'", "");
    await serveWith({ headers: { "Content-Security-Policy": without } }, async (address) => {
      const view = await visit(started, "#/explore", address);
      await view.says('[data-part="problem"]', /wasm-blocked/u);
      await view.tab.close();
    });
  },
);

test(
  "axe finds nothing in light and dark; a phone is wide enough",
  { tag: "@full" },
  async ({ view }) => {
    await view.go("#/explore?hashes=4");
    await untilCounted(view, 4);
    await view.click('[data-part="phases"] summary');
    await view.expectAccessible("explore");
  },
);
