/** Every known answer, in every browser, by the package as it sets itself up. */
import { expect, test } from "../browsers/test.js";
import { headers, readText } from "../support.js";
import type { WholeBlock } from "../harness/vectors.js";
import { count, known } from "./known.js";
import { note } from "./proof.js";

test("every known hash", async ({ harness }) => {
  expect(count(known)).toBe(305);
  const { hashes, configuration } = await harness.call("hashes", {}, known);
  expect(hashes).toEqual(known.map(({ hashes }) => hashes));
  note(harness, configuration, count(known));
});

test("mainnet-headers, all 8, one at a time", async ({ harness }) => {
  const { seed_hash, seed_height, blocks } = headers;
  expect(blocks).toHaveLength(8);
  const verdicts = await harness.call("verdicts", seed_hash, blocks);
  expect(verdicts).toEqual(
    blocks.map(({ pow_hash }) => ({ valid: true, hash: pow_hash, seedHeight: seed_height })),
  );
});

test("mainnet-headers, as a chain", async ({ harness }) => {
  const { seed_hash, blocks } = headers;
  // Only what a chain is told.
  const told = blocks.map(({ height, id, difficulty, hashing_blob }) => {
    return { height, id, difficulty, hashing_blob };
  });
  const { verdicts, end } = await harness.call("chain", seed_hash, told);
  expect(verdicts).toEqual(blocks.map(({ pow_hash }) => `valid ${pow_hash}`));
  expect(end).toEqual({ height: told.at(-1)?.height, id: told.at(-1)?.id });
});

test("a whole block, and what is wrong with it when it is altered", async ({ harness }) => {
  const { blocks } = JSON.parse(readText("tests/vectors/mainnet-blocks.json")) as {
    blocks: (WholeBlock & { pow_hash: string })[];
  };
  const [block] = blocks;
  if (!block) throw new Error("there is a block");
  const { block_blob, pow_hash } = block;
  const altered = [
    block,
    { ...block, height: block.height + 1 },
    { ...block, block_blob: block_blob.slice(0, -2) },
    { ...block, block_blob: block_blob.replace(/..$/u, (byte) => (byte === "00" ? "01" : "00")) },
  ];
  const [whole, higher, shorter, other] = await harness.call("whole", altered, "704249165145");
  expect(whole).toEqual({ valid: true, hash: pow_hash, failed: [] });
  expect(higher).toMatchObject({ valid: false, failed: ["height", "miner-transaction"] });
  expect(shorter).toEqual({ valid: false, hash: "", failed: ["block"] });
  expect(other).toMatchObject({ valid: false, failed: ["id", "proof-of-work"] });
});

test("the suites of crates/conformance, on the page's own thread", async ({ harness }) => {
  const suites = await harness.call("suites");
  // What is left out is hashed above by the package, and by these suites in Node.
  const chosen = suites.filter((suite) => !known.some(({ file }) => file === suite));
  expect(chosen).toHaveLength(suites.length - new Set(known.map(({ file }) => file)).size);
  for (const suite of [...chosen, "specification-hashes"]) {
    await test.step(suite, async () => {
      const json = readText(`tests/vectors/${suite}.json`);
      const report = await harness.call("suite", suite, json);
      expect(report.failures, suite).toEqual([]);
      expect(report.checked, suite).toBeGreaterThan(0);
    });
  }
});
