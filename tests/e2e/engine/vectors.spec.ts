/** Every known answer in every browser, by the package's default set-up. */
import { expect, openHarness, test, type Harness } from "../browsers/test.js";
import type { WholeBlock } from "../harness/vectors.js";
import { headers, readText } from "../support.js";
import { count, known } from "./known.js";
import { record } from "./proof.js";

/** One page for all tests, so that its instance and caches serve them all. */
let harness: Harness;

test.beforeAll(async ({ started }) => {
  harness = await openHarness(started);
});

test.afterAll(async () => {
  await harness.tab.close();
});

test("every known hash", { tag: "@chromium" }, async ({ engine }) => {
  test.skip(engine !== "chromium", "elsewhere matrix.spec.ts computes them all, three times");
  test.slow();
  expect(count(known)).toBe(305);
  const { hashes, configuration } = await harness.call("hashesByDefault", known);
  expect(hashes).toEqual(known.map(({ hashes }) => hashes));
  await record(harness, configuration, count(known));
});

test("mainnet-headers, all 8, one at a time", { tag: "@chromium" }, async () => {
  const { seed_hash, seed_height, blocks } = headers;
  expect(blocks).toHaveLength(8);
  const verdicts = await harness.call("verdicts", seed_hash, blocks);
  expect(verdicts).toEqual(
    blocks.map(({ pow_hash }) => ({ valid: true, hash: pow_hash, seedHeight: seed_height })),
  );
});

test("mainnet-headers, as a chain", { tag: "@chromium" }, async () => {
  const { seed_hash, blocks } = headers;
  const links = blocks.map(({ height, id, difficulty, hashing_blob }) => {
    return { height, id, difficulty, hashing_blob };
  });
  const { verdicts, end } = await harness.call("chain", seed_hash, links);
  expect(verdicts).toEqual(blocks.map(({ pow_hash }) => `valid ${pow_hash}`));
  expect(end).toEqual({ height: links.at(-1)?.height, id: links.at(-1)?.id });
});

test("a whole block, and the checks that altered ones fail", { tag: "@chromium" }, async () => {
  const { blocks } = JSON.parse(readText("tests/vectors/mainnet-blocks.json")) as {
    blocks: (WholeBlock & { pow_hash: string })[];
  };
  const [block] = blocks;
  if (!block) throw new Error("tests/vectors/mainnet-blocks.json: there is no block");
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

test("the suites of crates/conformance", { tag: "@chromium" }, async () => {
  const suites = await harness.call("suites");
  // The package hashes the other suites' vectors above, and Node runs those suites.
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
