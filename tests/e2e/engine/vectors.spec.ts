/** Every known answer, in every browser, by the package as it sets itself up. */
import { expect, test } from "../browsers/test.js";
import { headers, readText } from "../support.js";
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
