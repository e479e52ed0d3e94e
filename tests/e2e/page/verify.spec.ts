/** The view Verify, as a visitor uses it. */
import { expect, test, type Visit } from "../browsers/page.js";
import { headers } from "../support.js";
import { madeBlock } from "../../node/monero/support.js";
import { block as whole, newest } from "./monero-node.js";

const [first, second] = headers.blocks;
if (!first || !second) throw new Error("tests/vectors/mainnet-headers.json: there are no blocks");

const report = "#report";
const given = {
  block: second.hashing_blob,
  seed: headers.seed_hash,
  difficulty: second.difficulty,
};

async function paste(view: Visit, texts: Partial<typeof given>): Promise<void> {
  const { block, seed, difficulty } = { ...given, ...texts };
  await view.fill("#block", block);
  await view.fill("#seed-hash", seed);
  await view.fill("#difficulty", difficulty);
  await view.click("#from-paste [type=submit]");
}

/** Drops a file, whose content is an expression, on the first match. */
async function drop(view: Visit, selector: string, content: string): Promise<void> {
  await view.of(
    selector,
    `{
      const files = new DataTransfer();
      files.items.add(new File([${content}], "block"));
      it.dispatchEvent(new DragEvent("drop", { dataTransfer: files, bubbles: true, cancelable: true }));
    }`,
  );
}

/** The outcome of each check in the report. */
async function outcomes(view: Visit): Promise<Record<string, string>> {
  return view.of<Record<string, string>>(
    `${report} .checks`,
    "Object.fromEntries([...it.children].map((row) => [row.dataset.check, row.dataset.outcome]))",
  );
}

test("verifies a real, whole block on load, and shows its details", async ({ view }) => {
  await view.go("");
  await view.until(`${report}[data-state="valid"]`);
  await view.says(`${report} .verdict`, "Verified: the work was done. All 9 checks passed.");
  await view.says("#report-title", "Block 3,455,947");
  await view.says('[data-place="id"]', newest.id);
  await view.says('[data-place="hash"]', newest.pow_hash);
  await view.says('[data-place="seed-hash"]', newest.seed_hash);
  const strip = (await view.text('[data-place="strip"]')).replace(/\s/gu, "");
  expect(strip.startsWith(newest.block_blob.slice(0, 86))).toBe(true);
  await view.says(
    ".parts",
    /Timestamp[^]*decimal[^]*Nonce[^]*Miner transaction: height[^]*3455947/u,
  );
  // The file with the block does not state the chain's difficulty.
  await view.says('[data-place="origin"]', /its exact difficulty is not known here$/u);
  await view.says('[data-difficulty="met by all seven blocks"]', "704,249,165,145");
  expect(await view.count('[data-difficulty="required"]')).toBe(0);
  await view.says(".epoch", /3,454,976[^]*3,455,041[^]*3,455,947[^]*3,457,088/u);
  expect(Object.values(await outcomes(view))).toEqual(Array.from({ length: 9 }, () => "passed"));
  await view.says('[data-check="proof-of-work"] .examined', new RegExp(newest.pow_hash, "u"));

  expect(await view.text("#example-error")).toBe("");

  await view.click("#again");
  await view.says(`${report} .task`, /already in memory/u);
  await view.until(`${report}[data-state="valid"]`);
});

test("one click changes a byte, and one puts it back", async ({ view }) => {
  await view.go("");
  await view.until(`${report}[data-state="valid"]`);
  // A byte of the nonce.
  const before = await view.text('[data-byte="39"]');
  await view.click('[data-byte="39"]');
  await view.until(`${report}[data-state="invalid"]`);
  await view.says(
    `${report} .verdict`,
    "Rejected: one changed digit, and the work no longer fits. 3 of 9 checks failed.",
  );
  expect(await view.text('[data-byte="39"][data-altered]')).not.toBe(before);
  expect(await view.hasFocus('[data-byte="39"]')).toBe(true);
  expect(await view.of(`${report} .checks`, "it.firstElementChild.dataset.check")).toBe(
    "proof-of-work",
  );
  await view.click("#put-back");
  await view.until(`${report}[data-state="valid"]`);
  expect(await view.text('[data-byte="39"]')).toBe(before);
  expect(await view.hasFocus("#again")).toBe(true);

  // The focus shows and names the part that its byte belongs to.
  await view.of('[data-byte="39"]', "it.focus()");
  await view.says(".parts .lit dt", /^Nonce/u);
  expect(await view.of('[data-byte="39"]', `it.closest('[role="group"]').ariaLabel`)).toBe("Nonce");
  // With the keyboard: to the next byte and back, then change and restore it.
  await view.of('[data-byte="0"]', "it.focus()");
  const back = `new KeyboardEvent("keydown", { key: "ArrowRight", altKey: true, bubbles: true, cancelable: true })`;
  expect(await view.of('[data-byte="0"]', `it.dispatchEvent(${back})`)).toBe(true);
  await view.tab.press("ArrowRight");
  await view.tab.press("Enter");
  await view.until(`${report}[data-state="invalid"]`);
  expect(await view.hasFocus('[data-byte="1"][data-altered]')).toBe(true);
  await view.tab.press("Enter");
  await view.until(`${report}[data-state="valid"]`);

  // This page has no rules for the changed version.
  await view.click('[data-byte="0"]');
  await view.until(`${report}[data-state="invalid"]`);
  await view.says(`${report} .verdict`, /^Rejected: one changed digit/u);
});

test("a hashing blob with its exact difficulty", { tag: "@chromium" }, async ({ view }) => {
  await view.go(`#/verify?block=${first.height}`);
  await view.until(`${report}[data-state="valid"]`);
  await view.says(
    `${report} .verdict`,
    "Verified: the work was done. 5 of 9 checks could be made, and passed.",
  );
  await view.says("#report-title", "Block 3,727,300");
  await view.says('[data-place="id"]', first.id);
  await view.says('[data-place="hash"]', first.pow_hash);
  await view.says('[data-difficulty="required"]', "716,071,628,829");
  await view.says(".epoch", /3,725,312[^]*3,725,377[^]*3,727,300[^]*3,727,424/u);
  expect(await outcomes(view)).toEqual({
    block: "passed",
    "hashing-blob": "skipped",
    version: "passed",
    vote: "passed",
    height: "skipped",
    "miner-transaction": "skipped",
    transactions: "skipped",
    id: "passed",
    "proof-of-work": "passed",
  });
});

test(
  "an address without a block names the first example",
  { tag: "@chromium" },
  async ({ view }) => {
    await view.go("");
    await view.until(`${report}[data-state="valid"]`);
    await view.of(
      "#example",
      `{ it.value = "${first.height}"; it.dispatchEvent(new Event("change", { bubbles: true })); }`,
    );
    await view.says("#report-title", "Block 3,727,300");
    await view.click('a[data-from="paste"]');
    await view.until("#from-paste:not([hidden])");
    await view.click('a[data-from="example"]');
    await view.says("#report-title", "Block 3,455,947");
    expect(await view.of("#example", "it.value")).toBe("3455947");
  },
);

test(
  "on a phone all checks are at most three screens below the top",
  { tag: "@chromium" },
  async ({ view }) => {
    await view.tab.resize(360, 720);
    await view.go("");
    await view.until(`${report}[data-state="valid"]`);
    // The scroll bars of phones take no part of the width.
    await view.of("html", `{ it.style.scrollbarWidth = "none"; }`);
    const screens = async (selector: string, edge: "top" | "bottom"): Promise<number> =>
      view.of(selector, `(it.getBoundingClientRect().${edge} + scrollY) / innerHeight`);
    expect(await screens(`${report} .more`, "top")).toBeLessThanOrEqual(3);
    expect(await view.count(`${report} .more[open]`)).toBe(0);
    // Failed checks have longer reasons, and come first.
    await view.click('[data-byte="39"]');
    await view.until(`${report}[data-state="invalid"]`);
    const failed = '[data-outcome="failed"]';
    expect(await view.count(failed)).toBe(3);
    expect(await screens(".checks :nth-child(3 of [data-outcome=failed])", "bottom")).toBeLessThan(
      3,
    );
  },
);

test(
  "on a phone the names of the checks and the meaning of the bytes can be read",
  { tag: "@chromium" },
  async ({ view }) => {
    await view.tab.resize(360, 720);
    await view.go("");
    await view.until(`${report}[data-state="valid"]`);
    // The words of outcomes are there for screen readers.
    await view.says('[data-check="block"] .outcome', /passed/u);
    const name = '[data-check="block"] code';
    expect(await view.of(name, "it.checkVisibility()")).toBe(false);
    await view.click("#examined");
    expect(await view.of(name, "it.checkVisibility()")).toBe(true);
    await view.says('[data-check="id"] .examined', new RegExp(newest.id, "u"));
    await view.click(".more:has(.parts) summary");
    await view.says(".parts", /Timestamp[^]*Miner transaction: height[^]*3455947/u);
  },
);

test("a pasted block is valid; altered, or with a higher difficulty, it is invalid", async ({
  view,
}) => {
  await view.go("#/verify?from=paste");
  const spread = given.block.replace(/.{20}/gu, "$&\n ");
  await paste(view, { block: spread });
  await view.until(`${report}[data-state="valid"]`);
  await view.says('[data-place="hash"]', second.pow_hash);

  const met = (await view.text('[data-difficulty="met"]')).replaceAll(",", "");
  await paste(view, { difficulty: String(BigInt(met) + 1n) });
  await view.until(`${report}[data-state="invalid"]`);
  await paste(view, { difficulty: met });
  await view.until(`${report}[data-state="valid"]`);

  await paste(view, { block: given.block.replace(/.$/u, "5") });
  await view.until(`${report}[data-state="invalid"]`);
  await view.says(
    `${report} .verdict`,
    /^Rejected: the hash does not meet the difficulty 7\d+\. 1 of 4 checks failed\.$/u,
  );
  expect((await outcomes(view))["proof-of-work"]).toBe("failed");
  await view.says('[data-check="proof-of-work"] .outcome', /failed/u);
});

test("an address that contains a block verifies it", { tag: "@chromium" }, async ({ view }) => {
  const query = new URLSearchParams({ from: "paste", ...given, id: second.id, height: "3727301" });
  await view.go(`#/verify?${query.toString()}`);
  await view.until(`${report}[data-state="valid"]`);
  // A hashing blob does not contain its height.
  await view.says("#report-title", "A hashing blob");
  expect((await outcomes(view)).id).toBe("passed");
});

test(
  "a dropped file is read: hex, bytes, a node's answer",
  { tag: "@chromium" },
  async ({ view }) => {
    await view.go("#/verify?from=paste");
    const bytes = `Uint8Array.from(${JSON.stringify(whole.block_blob.match(/../gu))}, (byte) => parseInt(byte, 16))`;
    const answer = {
      result: {
        blob: whole.block_blob,
        block_header: { wide_difficulty: "0xa3f8", difficulty: 1, hash: whole.id, height: 3455887 },
      },
    };
    for (const content of [
      JSON.stringify(`${whole.block_blob}\n`),
      bytes,
      JSON.stringify(JSON.stringify(answer)),
    ]) {
      await view.fill("#block", "");
      await drop(view, "#from-paste", content);
      await expect.poll(() => view.of("#block", "it.value.trim()")).toBe(whole.block_blob);
    }
    await view.says("#kind", "2,424 bytes, read as a block.");
    expect(await view.of("#difficulty", "it.value")).toBe(String(0xa3f8));
    expect(await view.of("#expected-id", "it.value")).toBe(whole.id);
    await view.says("#seed-hash-error", "Seed hash: expected a value, got nothing.");
    await view.fill("#seed-hash", whole.seed_hash);
    await view.click("#from-paste [type=submit]");
    await view.until(`${report}[data-state="valid"]`);
  },
);

test(
  "a file can be dropped on a view that takes none, and is verified at once",
  { tag: "@full" },
  async ({ view }) => {
    await view.go("#/bench");
    const { block_blob: block, seed_hash: seedHash } = whole;
    const file = JSON.stringify({ block, seedHash, difficulty: 1000 });
    await view.until('.view[data-view="bench"] h1');
    await drop(view, "h1", JSON.stringify(file));
    await view.until(`${report}[data-state="valid"]`);
    await view.says('[data-place="id"]', whole.id);

    // A field that takes no files leaves them to the page.
    await view.go("#/bench");
    await drop(view, "#bench-seconds", JSON.stringify(file));
    await view.until(`${report}[data-state="valid"]`);
  },
);

test("the file that was dropped last is shown", { tag: "@chromium" }, async ({ view }) => {
  await view.go("#/verify?from=paste");
  await view.until("#from-paste:not([hidden])");
  await view.of(
    "html",
    `{
      const { arrayBuffer } = Blob.prototype;
      Blob.prototype.arrayBuffer = function () {
        Blob.prototype.arrayBuffer = arrayBuffer;
        return new Promise((resolve) => {
          globalThis.read = () => resolve(arrayBuffer.call(this));
        });
      };
    }`,
  );
  await drop(view, "#from-paste", `"${"aa".repeat(80)}"`);
  await drop(view, "#from-paste", `"${"bb".repeat(80)}"`);
  await expect.poll(() => view.of("#block", "it.value")).toBe("bb".repeat(80));
  await view.of("html", "new Promise((resolve) => { read(); setTimeout(resolve, 500); })");
  expect(await view.of("#block", "it.value")).toBe("bb".repeat(80));
});

test("a block before RandomX is not judged", { tag: "@chromium" }, async ({ view }) => {
  await view.go("#/verify?from=paste");
  await paste(view, { block: given.block.replace(/^10/u, "0b") });
  await view.until(`${report}[data-state="failed"]`);
  await view.says(
    `${report} .verdict`,
    "Not decided: major version 11: its proof of work is not RandomX, which began with 12.",
  );
  expect((await outcomes(view))["proof-of-work"]).toBe("undecided");
});

test("a part without bytes has no places", { tag: "@chromium" }, async ({ view }) => {
  await view.go("#/verify?from=paste");
  // With 20 bytes of extra it is longer than a hashing blob.
  const bytes = [...madeBlock(7, "11".repeat(32)).slice(0, -3), 20, ...new Uint8Array(22)];
  const block = Buffer.from(bytes).toString("hex");
  await paste(view, { block, difficulty: "1" });
  await view.until(`${report} .parts div`);
  const hashes = await view.of<string>(".parts", "it.lastElementChild.textContent");
  expect(hashes).toMatch(/^Their hashes no bytes/u);
});

test("a file without a block is reported", { tag: "@chromium" }, async ({ view }) => {
  await view.go("#/verify?from=paste");
  await view.fill("#block", "{ not JSON");
  await view.says("#block-error", /expected JSON/u);
  await view.fill("#block", '{"height": 7}');
  await view.says("#block-error", /expected a block or a hashing blob/u);
  // The beginning of a picture.
  await view.fill("#block", "");
  await drop(view, "#from-paste", "Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10)");
  await view.says(
    "#block-error",
    /expected a file with a block.* 8 bytes .* begins with 0x89504e47/u,
  );
  await drop(view, "#from-paste", `new Uint8Array(${(4 << 20) + 1})`);
  await view.says("#block-error", /expected at most 4194304 bytes, got 4194305 bytes/u);
  await view.fill("#block", "zz");
  await view.says("#kind", "This is not hex, two digits a byte.");
});

test("a block is not called what only its sender says", { tag: "@chromium" }, async ({ view }) => {
  await view.go("#/verify?from=paste");
  // The example's height and id stay in the form.
  await view.click("#fill");
  await view.fill("#block", "00".repeat(76));
  await view.click("#from-paste [type=submit]");
  await view.until(`${report}[data-state="invalid"]`);
  await view.says("#report-title", "A hashing blob");
  // Bytes that cannot be read are not hashed; only the check says so.
  await view.fill("#block", "ff".repeat(200));
  await view.click("#from-paste [type=submit]");
  await view.says(`${report} .verdict`, /^Rejected: .* 1 of 1 checks failed\.$/u);
  expect(await view.of('[data-place="hash-row"]', "it.hidden")).toBe(true);
  // Nor do they have the example's height and id. Nothing was filled for them.
  await view.says("#report-title", "A block");
  await view.says('[data-place="epoch"]', /^The bytes cannot be read as a block/u);
  expect(await view.of('[data-place="id-row"]', "it.hidden")).toBe(true);
  expect(await view.of(`${report} .task`, "it.checkVisibility()")).toBe(false);
  const saved = await view.saved(`${report} .actions button + button`);
  expect(JSON.parse(saved)).toMatchObject({ valid: false, height: null, id: null });
});

test("work can be cancelled, and other work started", { tag: "@full" }, async ({ view }) => {
  await view.go("#/verify?from=paste");
  // The fill may end before the click. Then another key is tried.
  let attempts = 0;
  await expect(async () => {
    attempts += 1;
    await paste(view, { seed: String(attempts).padStart(64, "2") });
    await view.until(`${report}[data-state="filling"]`);
    await view.click(`${report} .task button`);
    await view.until(`${report}[data-state="cancelled"]`, 5000);
  }).toPass({ timeout: 90_000 });
  await view.says(`${report} .verdict`, /^Cancelled/u);
  expect(await view.of(`${report} .task button`, "it.ariaDisabled")).toBe("true");

  // The second block replaces the first, whose work is aborted.
  await paste(view, { seed: "33".repeat(32) });
  await view.until(`${report}[data-state="filling"]`);
  await paste(view, {});
  await view.until(`${report}[data-state="valid"]`);
});
