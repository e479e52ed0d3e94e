/** For tests of Monero's rules: real blocks, a generated chain of lowest difficulty, and what verdicts say. */
import { readFileSync } from "node:fs";
import { bytesToHex } from "@noble/hashes/utils.js";
import * as monero from "../../../wasm/monero/pkg/randomx_monero_wasm.js";
import {
  MAINNET_GENESIS,
  type ChainBlock,
  type ChainVerdict,
  type ChainVerification,
} from "../../../wasm/js/index.js";
import { readVectors } from "../support.js";

/** A real block of July 2025. */
export interface WholeBlock {
  height: number;
  id: string;
  seed_hash: string;
  pow_hash: string;
  hashing_blob: string;
  block_blob: string;
}

/** Seven real blocks. */
export const whole = (readVectors("mainnet-blocks") as { blocks: WholeBlock[] }).blocks;

/** Eight consecutive headers with their difficulties. */
export const headers = readVectors("mainnet-headers") as {
  seed_hash: string;
  seed_height: number;
  blocks: {
    height: number;
    id: string;
    difficulty: string;
    hashing_blob: string;
    pow_hash: string;
  }[];
};

/** The lowest difficulty of the time of the whole blocks. */
export const LEAST = "704249165145";

/** The module of Monero's rules, and its memory. */
export const rules = { ...monero, memory: load().memory };

function load(): monero.InitOutput {
  const path = "../../../wasm/monero/pkg/randomx_monero_wasm_bg.wasm";
  return monero.initSync({ module: readFileSync(new URL(path, import.meta.url)) });
}

/** Returns the headers as a chain. */
export function headerChain(): ChainBlock[] {
  return headers.blocks.map(({ height, id, difficulty, hashing_blob }) => ({
    hashingBlob: hashing_blob,
    id,
    height,
    difficulty,
    seedHash: headers.seed_hash,
  }));
}

/**
 * Generates blocks after the genesis block, or from a height on, one every two minutes. So the rule demands difficulty 1,
 * which every hash meets.
 */
export function madeChain(count: number, first = 1): { block: Uint8Array; id: string }[] {
  const blocks: { block: Uint8Array; id: string }[] = [];
  let previous = MAINNET_GENESIS.id;
  for (let height = first; height < first + count; height += 1) {
    const block = madeBlock(height, previous);
    const { id } = rules.examine(block, undefined, undefined, undefined, "regtest");
    previous = id ? bytesToHex(id) : "not a block";
    blocks.push({ block, id: previous });
  }
  return blocks;
}

/** The timestamp of a generated block at second 0. */
export const FIRST_TIMESTAMP = 1_700_000_000;

/** Generates a block of version 16 with one output to a tagged key and no other transaction. */
export function madeBlock(height: number, previousId: string, seconds = 120 * height): Uint8Array {
  const previous = Buffer.from(previousId, "hex");
  const header = [16, 16, ...varint(FIRST_TIMESTAMP + seconds), ...previous, 1, 2, 3, 4];
  const output = [0, 3, ...new Array<number>(33).fill(9)];
  return Uint8Array.from([
    ...header,
    ...[2, ...varint(height + 60), 1, 0xff, ...varint(height), 1, ...output, 0, 0, 0],
  ]);
}

function varint(value: number): number[] {
  return value < 0x80 ? [value] : [(value % 0x80) | 0x80, ...varint(Math.floor(value / 0x80))];
}

/** Returns a generator of pseudo-random numbers, the same in every run. */
export function random(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

/** Returns all verdicts of a verification. */
export async function all(chain: ChainVerification): Promise<ChainVerdict[]> {
  const verdicts = [];
  for await (const verdict of chain) verdicts.push(verdict);
  return verdicts;
}

/** Returns the names of the checks that a block fails. */
export function failed(verdict: ChainVerdict | undefined): string[] {
  const checks = verdict?.checks ?? [];
  return checks.filter(({ passed }) => passed === false).map(({ name }) => name);
}
