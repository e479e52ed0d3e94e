/** All vectors in the browser: by the package as it is built, and by the conformance suites. */
import { expect, test } from "@playwright/test";
import { headers, openHarness, readText } from "./support.js";

interface HashVector {
  version: 1 | 2;
  key: string;
  input: string;
  hash: string;
}

test.beforeEach(async ({ page }) => {
  await openHarness(page);
});

test("reference-hashes, all 80, in lanes", async ({ page }) => {
  const { vectors } = JSON.parse(readText("tests/vectors/reference-hashes.json")) as {
    vectors: HashVector[];
  };
  expect(vectors).toHaveLength(80);
  const hashes = await page.evaluate(async (vectors) => {
    const randomx = await window.harness.RandomX.create();
    const hashes: string[] = [];
    for (const key of new Set(vectors.map((vector) => vector.key))) {
      for (const version of [1, 2] as const) {
        const same = (vector: HashVector): boolean =>
          vector.key === key && vector.version === version;
        const inputs = vectors.filter(same).map(({ input }) => input);
        const results = await randomx.hashMany(key, inputs, { version });
        vectors.forEach((vector, index) => {
          if (same(vector)) hashes[index] = toHex(results.shift());
        });
      }
    }
    randomx.dispose();
    return hashes;

    function toHex(bytes: Uint8Array = new Uint8Array()): string {
      return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
    }
  }, vectors);
  expect(hashes).toEqual(vectors.map(({ hash }) => hash));
});

test("mainnet-headers, all 8, one at a time", async ({ page }) => {
  const { seed_hash, seed_height, blocks } = headers;
  expect(blocks).toHaveLength(8);
  const results = await page.evaluate(
    async ({ seed_hash, blocks }) => {
      const randomx = await window.harness.RandomX.create();
      const results = [];
      for (const { height, hashing_blob, difficulty } of blocks) {
        const block = { seedHash: seed_hash, hashingBlob: hashing_blob, difficulty };
        const { valid, hash, reason } = await randomx.verifyBlock(block);
        const seedHeight = await randomx.seedHeight(height);
        results.push({ valid, hash: [...hash], reason, seedHeight });
      }
      randomx.dispose();
      return results;
    },
    { seed_hash, blocks },
  );
  expect(results).toEqual(
    blocks.map(({ pow_hash }) => ({
      valid: true,
      hash: [...Buffer.from(pow_hash, "hex")],
      reason: undefined,
      seedHeight: seed_height,
    })),
  );
});

test("every suite of crates/conformance", async ({ page }) => {
  test.setTimeout(300_000);
  const suites = await page.evaluate(async () => (await window.harness.conformance()).suites());
  expect(suites).not.toHaveLength(0);
  for (const suite of suites) {
    await test.step(suite, async () => {
      const json = readText(`tests/vectors/${suite}.json`);
      const text = await page.evaluate(
        async ({ suite, json }) => (await window.harness.conformance()).run(suite, json),
        { suite, json },
      );
      const report = JSON.parse(text) as { checked: number; failures: string[] };
      expect(report.failures, suite).toEqual([]);
      expect(report.checked, suite).toBeGreaterThan(0);
    });
  }
});
