/** The WebAssembly module of Monero's rules: its arguments, and blobs that are not blocks. */
import { bytesToHex } from "@noble/hashes/utils.js";
import { expect, test } from "vitest";
import { asRandomXError } from "../../../wasm/js/errors.js";
import { ChainRules } from "../../../wasm/js/monero/chain_rules.js";
import { fromJson, MAINNET_GENESIS } from "../../../wasm/js/monero/checkpoint.js";
import { FIRST_TIMESTAMP, madeBlock, random, rules as wasm, whole } from "./support.js";

const { MAX_SAFE_INTEGER } = Number;
const hash = new Uint8Array(32);
const MIB = 1 << 20;

const NO_CLAIMS = {
  hashingBlob: undefined,
  id: undefined,
  height: undefined,
  seedHash: undefined,
  difficulty: undefined,
};

test.each([
  ["a hash of 33 bytes", () => wasm.meetsDifficulty(new Uint8Array(33), "1"), /^hash: /],
  ["difficulty 0", () => wasm.meetsDifficulty(hash, "0"), /^difficulty: /],
  ["no difficulty", () => wasm.meetsDifficulty(hash, ""), /^difficulty: /],
  ["a difficulty of 2^256", () => wasm.proofOfWork(hash, (1n << 256n).toString()), /^difficulty: /],
  ["height -1", () => wasm.seedHeight(-1), /^height: /],
  ["height NaN", () => wasm.seedHeight(NaN), /^height: /],
  ["height 2^53", () => wasm.seedHeight(2 ** 53), /^height: /],
  ["a block over 1 MiB", () => examine(new Uint8Array(MIB + 1)), /^block: /],
  ["an id of 31 bytes", () => examine(hash, hash.subarray(1)), /^expectedId: expected 32 bytes/],
  ["no network", () => examine(hash, hash, "v17"), /^network: /],
  ["a chain from 2^53", () => wasm.Chain.beginAt(2 ** 53, "mainnet"), /^from: /],
  [
    "a chain from above all",
    () => wasm.Chain.beginAt(500_000_001, "mainnet"),
    /^from: height: expected at most 500000000$/,
  ],
  ["timestamps without difficulties", () => resume([1, 2], ["1"]), /^timestamps: /],
  ["more blocks than there are", () => resume([1, 2], ["1", "1"]), /^checkpoint: recent: /],
  ["a timestamp of half a second", () => resume([0.5], ["1"]), /^timestamps: /],
  ["a difficulty in words", () => resume([1], ["one"]), /^difficulties: /],
  ["a difficulty of nothing", () => resume([1], ["0"]), /^checkpoint: recent: /],
  ["a seed at height 5", () => resume([1], ["1"], 5), /^checkpoint: seeds: /],
  ["another genesis block", () => resume([1], ["1"]), /^checkpoint: implausible: /],
  ["no recent block", () => resume([], []), /^checkpoint: incomplete: /],
])("refuses %s", (_, call, message) => {
  let thrown: unknown;
  try {
    call();
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toMatchObject({
    code: "invalid-argument",
    message: expect.stringMatching(message) as string,
  });
  expect(asRandomXError(thrown)).toMatchObject({ name: "RandomXError", code: "invalid-argument" });
});

test("errors of a chain name the missing argument, or the chain", () => {
  const chainAt = (height: number) => {
    const chain = wasm.Chain.beginAt(height, "regtest");
    const block = madeBlock(height, MAINNET_GENESIS.id, 0);
    const push = (bytes: Uint8Array, seedHash?: Uint8Array, difficulty?: string) =>
      chain.push(bytes, undefined, undefined, undefined, seedHash, difficulty, FIRST_TIMESTAMP);
    return { chain, block, push };
  };
  const { chain, block, push } = chainAt(5000);
  expect(() => chain.settle(undefined)).toThrow(/^chain: no block waits for its hash$/);
  expect(() => push(block)).toThrow(
    /^seedHash: expected the id of block 4096 as the seed hash, got none$/,
  );
  expect(() => push(block, hash)).toThrow(
    /^difficulty: expected a difficulty, since .*; got none$/,
  );
  expect(push(new Uint8Array(), hash)).toBeNull();
  expect(() => push(block)).toThrow(/^chain: the block at height 5000 was refused: /);
  const last = chainAt(500_000_000);
  expect(last.push(last.block, hash, "1")).not.toBeNull();
  expect(() => last.push(last.block, hash, "1")).toThrow(/^height: expected no block above /);
});

test("a height above 2^53 - 1 is not rounded", () => {
  const height = (claimed: number) => examine(madeBlock(claimed, MAINNET_GENESIS.id)).height;
  expect(height(MAX_SAFE_INTEGER)).toBe(MAX_SAFE_INTEGER);
  expect(height(2 ** 53)).toBeNull();
});

test("a chain with the latest timestamps continues from its checkpoint", () => {
  const judge = new ChainRules(wasm);
  const settings = { network: "regtest", allowIncomplete: false, fixedDifficulty: "1" } as const;
  let start = fromJson("checkpoint", MAINNET_GENESIS);
  for (const height of [1, 2]) {
    const block = madeBlock(height, bytesToHex(start.id), MAX_SAFE_INTEGER - FIRST_TIMESTAMP);
    const args = { ...settings, start, links: [{ ...NO_CLAIMS, block }], first: 0 };
    const early = judge.chainWork({ ...args, now: MAX_SAFE_INTEGER - 7199 });
    expect(early.failure?.message).toBe(
      "blocks[0].now: expected at most 2^53 - 7201, got 9007199254733792",
    );
    const now = MAX_SAFE_INTEGER - 7200;
    const { verdicts: judged } = judge.chainWork({ ...args, now });
    const { verdicts, checkpoint } = judge.chainVerdicts({ ...args, now, hashes: [hash], judged });
    expect(verdicts.map(({ status }) => status)).toEqual(["valid"]);
    if (!checkpoint) throw new Error("the block is valid");
    expect(checkpoint.timestamps.at(-1)).toBe(MAX_SAFE_INTEGER);
    start = checkpoint;
  }
});

test("10,000 mutated and random blobs cause no trap and no growth of memory", () => {
  const blobs = whole.map(({ block_blob }) => Buffer.from(block_blob, "hex"));
  const below = random(5);
  examine(new Uint8Array(MIB));
  const { memory } = wasm;
  const before = memory.buffer.byteLength;
  let read = 0;
  for (let round = 0; round < 10_000; round += 1) {
    const original = blobs[below(blobs.length)] ?? Buffer.alloc(0);
    const blob =
      round % 10 === 0
        ? Uint8Array.from({ length: below(3000) }, () => below(256))
        : Uint8Array.from(original);
    const changes = 1 + below(3);
    for (let change = 0; change < changes; change += 1) blob[below(blob.length)] = below(256);
    const cut = below(4) === 0 ? blob.subarray(0, below(blob.length)) : blob;
    if (examine(cut).id) read += 1;
  }
  expect(read).toBeGreaterThan(1000);
  expect(read).toBeLessThan(9000);
  expect(memory.buffer.byteLength).toBe(before);
});

function examine(block: Uint8Array, id?: Uint8Array, network = "mainnet") {
  return wasm.examine(block, undefined, id, undefined, network);
}

function resume(timestamps: number[], difficulties: string[], seed = 0) {
  const seeds = Float64Array.of(seed);
  return wasm.Chain.resume(
    0,
    hash,
    "0",
    Float64Array.from(timestamps),
    difficulties,
    seeds,
    [hash],
    "mainnet",
    false,
  );
}
