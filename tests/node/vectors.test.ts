/** The vectors of hashes, computed by the package with each engine, two workers and eight lanes. */
import { bytesToHex } from "@noble/hashes/utils.js";
import { afterAll, describe, expect, test } from "vitest";
import { ENGINES, RandomX, bytes, isFull, isNative, readVectors } from "./support.js";
import type { Block, HashVector } from "./support.js";

// The run with native code would repeat these: they say what hashes.
describe.each(isNative ? [] : ENGINES)("%s", async (name, options) => {
  const randomx = await RandomX.create({ threads: 2, slots: 3, ...options });
  afterAll(() => {
    randomx.dispose();
  });

  test("it is the engine that hashes", () => {
    expect(randomx.configuration.engine === "native").toBe(name === "native");
  });

  test("specification-hashes: one by one, alternating versions", async () => {
    const { vectors } = readVectors("specification-hashes") as { vectors: HashVector[] };
    expect(vectors).toHaveLength(10);
    for (const { version, key, input, hash } of vectors) {
      expect(bytesToHex(await randomx.hash(key, input, { version }))).toBe(hash);
    }
  });

  describe("reference-hashes: in lanes", () => {
    const { vectors } = readVectors("reference-hashes") as { vectors: HashVector[] };
    const keys = [...new Set(vectors.map(({ key }) => key))];

    test("has 80 vectors", () => {
      expect(vectors).toHaveLength(80);
    });

    describe.each(keys)("key %j", (key) => {
      test.each([1, 2] as const)("version %d", async (version) => {
        const chosen = vectors.filter((each) => each.key === key && each.version === version);
        expect(chosen).toHaveLength(8);
        const inputs = chosen.map(({ input }) => input);
        const hashes = await randomx.hashMany(key, inputs, { version });
        expect(hashes.map(bytesToHex)).toEqual(chosen.map(({ hash }) => hash));
      });
    });
  });

  describe("mainnet", () => {
    const headers = readVectors("mainnet-headers") as { seed_hash: string; blocks: Block[] };
    const whole = readVectors("mainnet-blocks") as { blocks: Block[] };
    const work = readVectors("mainnet-shares") as { seed_hash: string; shares: Block[] };

    async function verify(seedHash: string, block: Block, difficulty: string): Promise<string> {
      const asked = { seedHash, hashingBlob: block.hashing_blob, difficulty };
      const { valid, hash } = await randomx.verifyBlock(asked);
      return `${valid ? "valid" : "invalid"} ${hash ? bytesToHex(hash) : "unread"}`;
    }

    test("headers: valid up to the hash's own difficulty, invalid above", async () => {
      expect(headers.blocks).toHaveLength(8);
      const verdicts = await Promise.all(
        headers.blocks.flatMap((block) => {
          const own = hashDifficulty(block.pow_hash);
          const difficulties = [block.difficulty, own, own + 1n];
          return difficulties.map((each) => verify(headers.seed_hash, block, String(each)));
        }),
      );
      expect(verdicts).toEqual(
        headers.blocks.flatMap(({ pow_hash }) =>
          ["valid", "valid", "invalid"].map((verdict) => `${verdict} ${pow_hash}`),
        ),
      );
    });

    test("whole blocks: valid at the lowest difficulty of that time", async () => {
      expect(whole.blocks).toHaveLength(7);
      for (const block of whole.blocks) {
        const asked = await verify(block.seed_hash ?? "", block, "704249165145");
        expect(asked).toBe(`valid ${block.pow_hash}`);
      }
    });

    test("shares: all 200 are valid at their difficulty", async () => {
      expect(work.shares).toHaveLength(200);
      const verdicts = await Promise.all(
        work.shares.map((share) => verify(work.seed_hash, share, String(share.share_difficulty))),
      );
      expect(verdicts).toEqual(work.shares.map(({ pow_hash }) => `valid ${pow_hash}`));
    });

    test("shares: invalid above the difficulty of their own hash", async () => {
      const shares = work.shares.filter((_, index) => index % 25 === 0);
      const verdicts = await Promise.all(
        shares.map((share) => {
          return verify(work.seed_hash, share, String(hashDifficulty(share.pow_hash) + 1n));
        }),
      );
      expect(verdicts).toEqual(shares.map(({ pow_hash }) => `invalid ${pow_hash}`));
    });

    test("seed heights", async () => {
      const all = [...headers.blocks.map((block) => ({ ...headers, ...block })), ...whole.blocks];
      for (const { height, seed_height } of all) {
        expect(await randomx.seedHeight(height)).toBe(seed_height);
      }
    });
  });

  test("commitments", async () => {
    const { vectors } = readVectors("commitments") as {
      vectors: { input: string; hash: string; commitment: string }[];
    };
    expect(vectors).not.toHaveLength(0);
    for (const { input, hash, commitment } of vectors) {
      expect(bytesToHex(await randomx.commitment(input, hash))).toBe(commitment);
    }
  });
});

// More numbers of lanes are in sync.test.ts, where they share a cache.
test.each(isFull ? [1, 3] : [3])("%d lanes in a worker compute the same hashes", async (lanes) => {
  const { vectors } = readVectors("reference-hashes") as { vectors: HashVector[] };
  const chosen = vectors.filter(({ key, version }) => key === "" && version === 2).slice(0, 7);
  const other = await RandomX.create({ lanes, threads: 1 });
  expect(other.configuration).toMatchObject({ lanes, threads: 1 });
  const inputs = chosen.map(({ input }) => input);
  const hashes = await other.hashMany("", inputs, { version: 2 });
  expect(hashes.map(bytesToHex)).toEqual(chosen.map(({ hash }) => hash));
  other.dispose();
});

/** Returns the highest difficulty that a hash meets: (2^256 - 1) / hash, little-endian, rounded down. */
function hashDifficulty(hash: string): bigint {
  const littleEndian = BigInt(`0x${bytesToHex(bytes(hash).reverse())}`);
  return ((1n << 256n) - 1n) / littleEndian;
}
