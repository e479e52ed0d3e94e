/** The view Verify, as a visitor uses it. */
import { expect, test, type Visit } from "../browsers/page.js";
import { headers } from "../support.js";
import { block as whole } from "./monero-node.js";

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

/** The outcome of each check in the report. */
async function outcomes(view: Visit): Promise<Record<string, string>> {
  return view.of<Record<string, string>>(
    `${report} .checks`,
    "Object.fromEntries([...it.children].map((row) => [row.dataset.check, row.dataset.outcome]))",
  );
}

test("verifies a real block on load, and shows its details", async ({ view }) => {
  await view.go("");
  await view.until(`${report}[data-state="valid"]`);
  await view.says(`${report} .verdict`, /Verified: the hash meets the difficulty/u);
  await view.says("#report-title", "Block 3,727,300");
  await view.says('[data-place="id"]', first.id);
  await view.says('[data-place="hash"]', first.pow_hash);
  await view.says('[data-place="seed-hash"]', headers.seed_hash);
  await view.says('[data-place="strip"]', first.hashing_blob);
  await view.says('[data-difficulty="required"]', "716,071,628,829");
  await view.says(".parts", /Timestamp[^]*Nonce[^]*5637002/u);
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
  await view.says('[data-check="proof-of-work"] .examined', new RegExp(first.pow_hash, "u"));

  await view.click("#again");
  await view.says(`${report} .task`, /already in memory/u);
  await view.until(`${report}[data-state="valid"]`);
});

test(
  "a whole block: all checks, with the bytes they examined",
  { tag: "@chromium" },
  async ({ view }) => {
    await view.go(`#/verify?block=${whole.height}`);
    await view.until(`${report}[data-state="valid"]`);
    await view.says('[data-place="id"]', whole.id);
    await view.says('[data-place="hash"]', whole.pow_hash);
    const { "hashing-blob": blob, ...others } = await outcomes(view);
    expect(blob).toBe("skipped");
    expect(Object.values(others)).toEqual(Array.from({ length: 8 }, () => "passed"));
    await view.says('[data-check="height"] .examined', /8ff7d201/u);
    await view.says(".parts", /Miner transaction: height[^]*3455887/u);
    expect(await view.text(".parts")).not.toContain("Could not be read");
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
  await view.says(`${report} .verdict`, /Rejected: the hash does not meet the difficulty 7\d+\.$/u);
  expect((await outcomes(view))["proof-of-work"]).toBe("failed");
  await view.says('[data-check="proof-of-work"] .outcome', /failed/u);
});

test("an address that contains a block verifies it", { tag: "@chromium" }, async ({ view }) => {
  const query = new URLSearchParams({ from: "paste", ...given, id: second.id, height: "3727301" });
  await view.go(`#/verify?${query.toString()}`);
  await view.until(`${report}[data-state="valid"]`);
  await view.says("#report-title", "Block 3,727,301");
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
      await view.of(
        "#from-paste",
        `{
        const files = new DataTransfer();
        files.items.add(new File([${content}], "block"));
        it.dispatchEvent(new DragEvent("drop", { dataTransfer: files, bubbles: true, cancelable: true }));
      }`,
      );
      await expect.poll(() => view.of("#block", "it.value.trim()")).toBe(whole.block_blob);
    }
    await view.says("#kind", "2,424 bytes, read as a block");
    expect(await view.of("#difficulty", "it.value")).toBe(String(0xa3f8));
    expect(await view.of("#expected-id", "it.value")).toBe(whole.id);
    await view.fill("#seed-hash", whole.seed_hash);
    await view.click("#from-paste [type=submit]");
    await view.until(`${report}[data-state="valid"]`);
  },
);

test("a file without a block is reported", { tag: "@chromium" }, async ({ view }) => {
  await view.go("#/verify?from=paste");
  await view.fill("#block", "{ not JSON");
  await view.says("#block-error", /expected JSON/u);
  await view.fill("#block", '{"height": 7}');
  await view.says("#block-error", /expected a block or a hashing blob/u);
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
  expect(await view.of(`${report} .task button`, "it.disabled")).toBe(true);

  // The second block replaces the first, whose work is aborted.
  await paste(view, { seed: "33".repeat(32) });
  await view.until(`${report}[data-state="filling"]`);
  await paste(view, {});
  await view.until(`${report}[data-state="valid"]`);
});
