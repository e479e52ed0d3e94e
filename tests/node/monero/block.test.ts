/** `verifyBlock` with real blocks and altered ones. */
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type * as product from "../../../wasm/js/index.js";
import { AnyRandomX as RandomX, eventually, isFull } from "../support.js";
import type { HashRequest } from "../../../wasm/js/job.js";
import { isValid, verifyBlock, type CheckName } from "../../../wasm/js/monero/block.js";
import { BlockRules } from "../../../wasm/js/monero/block_rules.js";
import type { Scheduler } from "../../../wasm/js/scheduler.js";
import { headers, LEAST, random, rules, whole } from "./support.js";

let randomx: product.RandomX;

beforeAll(async () => {
  // All keys of these tests.
  randomx = await RandomX.create({ slots: 3 });
});

afterAll(() => {
  randomx.dispose();
});

function failed({ checks }: product.Verdict): string[] {
  return checks.filter(({ passed }) => passed === false).map(({ name }) => name);
}

function outcomes({ checks }: product.Verdict): Record<string, boolean | null> {
  return Object.fromEntries(checks.map(({ name, passed }) => [name, passed]));
}

test("whole blocks are valid, with all claims about them", async () => {
  expect(whole).toHaveLength(7);
  for (const { block_blob, hashing_blob, seed_hash, id, height, pow_hash } of whole) {
    const verdict = await randomx.verifyBlock({
      block: block_blob,
      hashingBlob: hashing_blob,
      seedHash: seed_hash,
      difficulty: LEAST,
      expectedId: id,
      height,
    });
    expect(verdict.valid).toBe(true);
    expect(verdict.height).toBe(height);
    expect(verdict.id && bytesToHex(verdict.id)).toBe(id);
    expect(verdict.hash && bytesToHex(verdict.hash)).toBe(pow_hash);
    expect(outcomes(verdict)).toEqual({
      block: true,
      "hashing-blob": true,
      version: true,
      vote: true,
      height: true,
      "miner-transaction": true,
      transactions: true,
      id: true,
      "proof-of-work": true,
    });
  }
});

test("a block of an unknown version is not called invalid", async () => {
  const [block] = headers.blocks;
  if (!block) throw new Error("there is a block");
  const { hashing_blob, difficulty } = block;
  const status = async (version: string): Promise<product.BlockStatus> => {
    const hashingBlob = hashing_blob.replace(/^10/u, version);
    const claims = { hashingBlob, seedHash: headers.seed_hash, difficulty };
    const verdict = await randomx.verifyBlock(claims);
    expect(verdict.valid).toBe(verdict.status === "valid");
    return verdict.status;
  };
  expect(await status("10")).toBe("valid");
  // Its proof of work is invalid.
  expect(await status("0f")).toBe("invalid");
  expect(await status("11")).toBe("update-needed");
  expect(await status("0b")).toBe("update-needed");
});

test("headers are valid, and checks that need the whole block are not made", async () => {
  for (const { hashing_blob, id, height, difficulty, pow_hash } of headers.blocks) {
    const block = { hashingBlob: hashing_blob, seedHash: headers.seed_hash, difficulty };
    const verdict = await randomx.verifyBlock({ ...block, expectedId: id, height });
    expect(verdict).toMatchObject({ valid: true, height });
    expect(verdict.hash && bytesToHex(verdict.hash)).toBe(pow_hash);
    expect(outcomes(verdict)).toEqual({
      block: true,
      "hashing-blob": null,
      version: true,
      vote: true,
      height: null,
      "miner-transaction": null,
      transactions: null,
      id: true,
      "proof-of-work": true,
    });
  }
});

test("a block is sent and read once", async () => {
  const [{ block_blob, seed_hash, pow_hash, height } = { block_blob: "" }] = whole;
  const requests: [string, boolean][] = [];
  const fill = { end: () => undefined };
  const judge = new BlockRules(rules);
  const scheduler = {
    stats: { queue: { requests: 0 }, slots: [] },
    configuration: { slots: 1 },
    check: () => undefined,
    whenRoom: (_: unknown, call: () => unknown) => call(),
    hash: () => Promise.resolve([hexToBytes(pow_hash ?? "")]),
    begin: ({ inputs }: HashRequest) => {
      requests.push([`begin ${inputs.length}`, false]);
      return fill;
    },
    drop: (job: unknown) => {
      requests.push(["drop", job === fill]);
    },
    ask: (operation: "examine" | "proofOfWork", args: never) => {
      requests.push([operation, "block" in args]);
      return Promise.resolve(judge[operation](args));
    },
  } as unknown as Scheduler;
  const block = { block: block_blob, seedHash: seed_hash, difficulty: LEAST, height };
  const { valid, checks } = await verifyBlock(scheduler, block, {});
  expect(valid).toBe(true);
  expect(checks.map(({ name }) => name)).toEqual([
    ...["block", "hashing-blob", "version", "vote", "height"],
    ...["miner-transaction", "transactions", "id", "proof-of-work"],
  ]);
  expect(requests).toEqual([
    ["examine", true],
    ["begin 0", false],
    ["proofOfWork", false],
    ["drop", true],
  ]);
});

test("a block is valid only if the version and the proof of work were checked", () => {
  const checks = (version: boolean | null, work: boolean | null, id: boolean | null = true) =>
    [
      ["version", version],
      ["id", id],
      ["proof-of-work", work],
    ].map(([name, passed]) => ({ name: name as CheckName, passed: passed as boolean | null }));
  expect(isValid(checks(true, true))).toBe(true);
  expect(isValid(checks(true, true, null))).toBe(true);
  expect(isValid(checks(true, true, false))).toBe(false);
  expect(isValid(checks(true, null))).toBe(false);
  expect(isValid(checks(true, false))).toBe(false);
  expect(isValid(checks(null, true))).toBe(false);
  expect(isValid(checks(true, true).slice(0, -1))).toBe(false);
  expect(isValid([])).toBe(false);
});

describe("a wrong claim fails its check", () => {
  const [known] = whole;
  if (!known) throw new Error("there is a block");
  const block = { block: known.block_blob, seedHash: known.seed_hash, difficulty: LEAST };

  test.each([
    ["another id", { expectedId: "00".repeat(32) }, ["id"]],
    ["another height", { height: known.height + 1 }, ["height", "miner-transaction"]],
    ["another hashing blob", { hashingBlob: "00" }, ["hashing-blob"]],
    ["another seed hash", { seedHash: "00".repeat(32) }, ["proof-of-work"]],
    ["a great difficulty", { difficulty: 1n << 250n }, ["proof-of-work"]],
    ["a block cut short", { block: known.block_blob.slice(0, -2) }, ["block"]],
    ["a byte too many", { block: `${known.block_blob}00` }, ["block"]],
    ["no byte at all", { block: "" }, ["block"]],
    ["another network", { network: "regtest" as const }, []],
  ])("%s", async (_, changed, names: string[]) => {
    const verdict = await randomx.verifyBlock({ ...block, ...changed });
    expect(failed(verdict)).toEqual(names);
    expect(verdict.valid).toBe(names.length === 0);
    const isRead = !names.includes("block");
    expect(verdict.hash !== null && verdict.id !== null).toBe(isRead);
  });

  test.each([2, 93])("%d bytes that are no hashing blob", async (length) => {
    const hashingBlob = new Uint8Array(length);
    const { seedHash } = block;
    const verdict = await randomx.verifyBlock({ hashingBlob, seedHash, difficulty: 1 });
    expect(verdict).toMatchObject({ valid: false, hash: null, id: null });
    expect(failed(verdict)).toEqual(["block"]);
    const proof = verdict.checks.find(({ name }) => name === "proof-of-work");
    expect(proof).toMatchObject({ passed: null, detail: "the block could not be read" });
  });

  test("wrong arguments are refused", async () => {
    const { seedHash, difficulty } = block;
    const nothing = randomx.verifyBlock({ seedHash, difficulty });
    await expect(nothing).rejects.toMatchObject({ code: "invalid-argument" });
    await expect(nothing).rejects.toThrow(/^hashingBlob: /);
    const id = randomx.verifyBlock({ ...block, expectedId: "00" });
    await expect(id).rejects.toThrow(/^expectedId: expected 32 bytes/);
    const network = randomx.verifyBlock({ ...block, network: "v17" as never });
    await expect(network).rejects.toThrow(/^network: /);
    await expect(randomx.checkDifficulty("00".repeat(31), 1)).rejects.toThrow(/^hash: /);
    expect(await randomx.checkDifficulty("ff".repeat(32), 1)).toBe(true);
    expect(await randomx.checkDifficulty("ff".repeat(32), 2)).toBe(false);
  });
});

const CORRUPTIONS = isFull ? 1000 : 45;

test(
  `${CORRUPTIONS} blocks and headers with one byte changed are all invalid`,
  { timeout: 600_000 },
  async () => {
    const below = random(1);
    const corrupt = (hex: string): Uint8Array => {
      const bytes = hexToBytes(hex);
      const at = below(bytes.length);
      bytes[at] = (bytes[at] ?? 0) ^ (1 + below(255));
      return bytes;
    };
    const cases = [
      ...whole.map(({ seed_hash, block_blob }) => {
        return { seedHash: seed_hash, difficulty: LEAST, blob: block_blob, isBlock: true };
      }),
      ...headers.blocks.map(({ difficulty, hashing_blob }) => {
        return { seedHash: headers.seed_hash, difficulty, blob: hashing_blob, isBlock: false };
      }),
    ];
    const counts = { total: 0, unread: 0, worked: 0 };
    for (const { seedHash, difficulty, blob, isBlock } of cases) {
      // Without an expected id only the proof of work can reveal a change that leaves the block readable.
      const verdicts = await Promise.all(
        Array.from({ length: Math.ceil(CORRUPTIONS / cases.length) }, () => {
          const bytes = corrupt(blob);
          return randomx.verifyBlock({
            ...(isBlock ? { block: bytes } : { hashingBlob: bytes }),
            seedHash,
            difficulty,
          });
        }),
      );
      for (const verdict of verdicts) {
        expect(verdict.valid).toBe(false);
        counts.total += 1;
        if (failed(verdict).includes("block")) counts.unread += 1;
        if (failed(verdict).includes("proof-of-work")) counts.worked += 1;
      }
    }
    expect(counts.total).toBeGreaterThanOrEqual(CORRUPTIONS);
    expect(counts.unread + counts.worked).toBeGreaterThanOrEqual(counts.total);
    expect(counts.worked).toBeGreaterThan(CORRUPTIONS / 2);
  },
);

test("the cache is filled while a block is read, and its progress is reported once", async () => {
  const [{ block_blob } = { block_blob: "" }] = whole;
  const block = { block: block_blob, seedHash: "11".repeat(32), difficulty: LEAST };
  const reported: product.Progress[] = [];
  const { hash } = await randomx.verifyBlock(block, {
    onProgress: (progress) => reported.push(progress),
  });
  expect(hash).toHaveLength(32);
  const parts = (phase: product.Progress["phase"]): number[] =>
    reported.filter((each) => each.phase === phase).map(({ done }) => done);
  expect(parts("cache")[0]).toBe(0);
  expect(parts("cache").length).toBeGreaterThan(3);
  expect(parts("cache").filter((done) => done === 1)).toHaveLength(1);
  expect(parts("cache")).toEqual(parts("cache").toSorted((a, b) => a - b));
  expect(parts("hash")).toEqual([0, 1]);
});

test("a block that cannot be read ends the fill of its cache, and replaces no other cache", async () => {
  using one = await RandomX.create({ slots: 1 });
  const unreadable = async (): Promise<void> => {
    const block = { block: "00", seedHash: "22".repeat(32), difficulty: LEAST };
    expect(await one.verifyBlock(block)).toMatchObject({ valid: false, hash: null });
    // A fill ends at its next pause.
    await eventually(() => {
      expect(one.stats().workers.busy).toBe(0);
    });
  };
  await unreadable();
  expect(one.stats()).toMatchObject({ caches: { count: 0 }, slots: [] });
  const key = "33".repeat(32);
  await one.prepare(key);
  await unreadable();
  const [held] = one.stats().slots;
  expect(held && bytesToHex(held.key)).toBe(key);
  expect(held?.isReady).toBe(true);
});
