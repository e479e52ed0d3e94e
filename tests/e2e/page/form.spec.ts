/** The form for a pasted block: the errors of each field, and use by keyboard alone. */
import { expect, test, type Visit } from "../browsers/page.js";
import { headers } from "../support.js";
import { block as whole } from "./monero-node.js";

const [, block] = headers.blocks;
if (!block) throw new Error("tests/vectors/mainnet-headers.json: there is no block");

const FIELDS = {
  "#block": block.hashing_blob,
  "#seed-hash": headers.seed_hash,
  "#difficulty": block.difficulty,
  "#expected-id": block.id,
  "#height": String(block.height),
};

async function fill(view: Visit, texts: Record<string, string>): Promise<void> {
  for (const [field, text] of Object.entries(texts)) await view.fill(field, text);
}

const WRONG: readonly [keyof typeof FIELDS, string, string][] = [
  ["#block", " \n", "Block: expected a value, got nothing."],
  ["#block", "101", "expected an even number of hex digits, got 3."],
  ["#block", "0x10", 'expected hex digits (0-9, a-f), got "x" at position 1.'],
  ["#block", "00".repeat(1048577), "expected at most 1048576 bytes, got 1048577 bytes."],
  ["#seed-hash", "", "Seed hash: expected a value, got nothing."],
  ["#seed-hash", "11".repeat(31), "expected 32 bytes (64 hex digits), got 31 bytes."],
  ["#seed-hash", "1".repeat(63), "expected an even number of hex digits, got 63."],
  ["#difficulty", "", "Difficulty: expected a value, got nothing."],
  ["#difficulty", "0", "expected at least 1, got 0."],
  ["#difficulty", "-1", "expected decimal digits only."],
  ["#difficulty", "1.5", "expected decimal digits only."],
  ["#difficulty", "NaN", "expected decimal digits only."],
  ["#difficulty", (1n << 256n).toString(), "expected less than 2^256."],
  ["#expected-id", "11".repeat(33), "expected 32 bytes (64 hex digits), got 33 bytes."],
  ["#height", "1e3", "Height: expected decimal digits only."],
  ["#height", "3,45,947", "Height: expected decimal digits only."],
  ["#height", "9".repeat(16), "expected a whole number from 0 to 2^53 - 1"],
];

test(
  "each field reports what is wrong with it, and takes the focus",
  { tag: "@chromium" },
  async ({ view }) => {
    await view.go("#/verify?from=paste");
    await view.until("#from-paste:not([hidden])");
    await view.click("#from-paste [type=submit]");
    for (const field of ["block", "seed-hash", "difficulty"]) {
      await view.says(`#${field}-error`, /: expected a value, got nothing\.$/u);
    }
    for (const [field, text, words] of WRONG) {
      await fill(view, { ...FIELDS, [field]: text });
      await view.click("#from-paste [type=submit]");
      const error = await view.of<string>(
        field,
        "document.querySelector(`#${it.id}-error`).innerText",
      );
      expect(error, `${field} ${text.slice(0, 12)}`).toContain(words);
      expect(await view.of(field, "it.getAttribute('aria-invalid')")).toBe("true");
      expect(await view.of(field, "it.getAttribute('aria-describedby')")).toContain("-error");
      expect(await view.hasFocus(field)).toBe(true);
      await view.fill(field, FIELDS[field]);
      expect(await view.of(field, "it.getAttribute('aria-invalid')")).toBe("false");
    }
    await view.until('#report[data-state="idle"]');
  },
);

test(
  "JSON that is pasted replaces the claims about the block before it",
  { tag: "@chromium" },
  async ({ view }) => {
    await view.go("#/verify?from=paste");
    await view.click("#fill");
    await view.until('#expected-id:not([aria-invalid="true"])');
    expect(await view.of("#expected-id", "it.value")).not.toBe("");
    const { block_blob, seed_hash } = whole;
    await view.fill("#block", JSON.stringify({ block: block_blob, seed_hash, difficulty: 1000 }));
    expect(await view.of("#block", "it.value")).toBe(block_blob);
    expect(await view.of("#expected-id", "it.value")).toBe("");
    expect(await view.of("#height", "it.value")).toBe("");
    await view.click("#from-paste [type=submit]");
    await view.until('#report[data-state="valid"]');
    // The key and the difficulty may belong to several blocks.
    await view.fill("#block", JSON.stringify({ block: block_blob }));
    expect(await view.of("#seed-hash", "it.value")).toBe(seed_hash);
    expect(await view.of("#difficulty", "it.value")).toBe("1000");
  },
);

test("a height may have commas, as the page writes it", { tag: "@chromium" }, async ({ view }) => {
  const { block_blob, height, seed_hash } = whole;
  await view.go("#/verify?from=paste");
  await view.until("#from-paste:not([hidden])");
  await fill(view, { "#block": block_blob, "#seed-hash": seed_hash, "#difficulty": "1" });
  await view.fill("#height", height.toLocaleString("en"));
  await view.click("#from-paste [type=submit]");
  await view.until('#report[data-state="valid"] [data-check="height"][data-outcome="passed"]');
});

test("the form works with the keyboard alone", { tag: "@chromium" }, async ({ view }) => {
  await view.go("#/verify?from=paste");
  await view.until("#from-paste:not([hidden])");
  await fill(view, FIELDS);
  await view.of("#difficulty", "it.focus()");
  // Past the summary of the optional fields, to the button.
  await view.tab.press("Tab");
  expect(await view.hasFocus("#from-paste summary")).toBe(true);
  await view.tab.press("Tab");
  expect(await view.hasFocus("#from-paste [type=submit]")).toBe(true);
  await view.tab.press("Enter");
  await view.until('#report[data-state="valid"]');
});

test("Enter submits a field of one line", { tag: "@chromium" }, async ({ view }) => {
  await view.go("#/verify?from=paste");
  await view.until("#from-paste:not([hidden])");
  await fill(view, FIELDS);
  await view.of("#difficulty", "it.focus()");
  await view.tab.press("Enter");
  await view.until('#report[data-state="valid"]');
  expect(await view.of("#difficulty", "it.value")).toBe(FIELDS["#difficulty"]);
  // Of several addresses, each has a line.
  await view.go("#/follow");
  await view.fill("#follow-relays", "127.0.0.1:9");
  await view.of("#follow-relays", "(it.focus(), it.setSelectionRange(20, 20))");
  await view.tab.press("Enter");
  expect(await view.of("#follow-relays", "it.value")).toBe("127.0.0.1:9\n");
});

test(
  "a file that is read slowly replaces no later choice",
  { tag: "@chromium" },
  async ({ view }) => {
    await view.go("#/verify?from=paste");
    await view.until("#from-paste:not([hidden])");
    /** Opens a file that is not read before `read` is called in the page. */
    const open = async (): Promise<void> =>
      view.of(
        "#file",
        `{
          const { arrayBuffer } = Blob.prototype;
          Blob.prototype.arrayBuffer = function () {
            Blob.prototype.arrayBuffer = arrayBuffer;
            return new Promise((resolve) => {
              globalThis.read = () => resolve(arrayBuffer.call(this));
            });
          };
          const files = new DataTransfer();
          files.items.add(new File(["${"aa".repeat(80)}"], "block"));
          it.files = files.files;
          it.dispatchEvent(new Event("change"));
        }`,
      );
    const read = (): Promise<void> =>
      view.of("html", "new Promise((resolve) => { read(); setTimeout(resolve, 500); })");

    await open();
    await view.fill("#difficulty", "1");
    await read();
    expect(await view.of("#block", "it.value")).toBe("");
    await open();
    await view.click("#fill");
    const example = await view.of("#block", "it.value");
    await read();
    expect(await view.of("#block", "it.value")).toBe(example);

    await open();
    await view.go(`#/verify?block=${block.height}`);
    await view.until('#report[data-state="valid"]');
    await read();
    expect(await view.of("#block", "it.value")).toBe(example);
    expect(await view.count('#report[data-state="valid"]')).toBe(1);
  },
);
