/** Known answers: by the package as a page uses it, and by the suites of crates/conformance. */
import loadConformance, {
  run,
  suites as names,
} from "../../../crates/conformance/pkg/randomx_conformance.js";
import { RandomX } from "../../../wasm/js/index.js";
import { toHex } from "./hex.js";

/** Inputs of one key and version. */
export interface Batch {
  key: string;
  version: 1 | 2;
  inputs: string[];
}

/** The hashes of each batch, in hex. */
export async function hashes(batches: Batch[]): Promise<string[][]> {
  const randomx = await RandomX.create();
  const results: string[][] = [];
  for (const { key, inputs, version } of batches) {
    const hashes = await randomx.hashMany(key, inputs, { version });
    results.push(hashes.map(toHex));
  }
  randomx.dispose();
  return results;
}

/** What is known of a block. */
export interface Block {
  height: number;
  difficulty: string;
  hashing_blob: string;
}

/** What the package says of blocks, each asked for alone. */
export async function verdicts(
  seedHash: string,
  blocks: Block[],
): Promise<{ valid: boolean; hash: string; seedHeight: number }[]> {
  const randomx = await RandomX.create();
  const results = [];
  for (const { height, difficulty, hashing_blob } of blocks) {
    const block = { seedHash, hashingBlob: hashing_blob, difficulty };
    const { valid, hash } = await randomx.verifyBlock(block);
    const seedHeight = await randomx.seedHeight(height);
    results.push({ valid, hash: toHex(hash), seedHeight });
  }
  randomx.dispose();
  return results;
}

/** The names of the suites. */
export async function suites(): Promise<string[]> {
  await loadConformance();
  return names();
}

/** Runs a suite on the page's own thread, with the vectors of its file. */
export async function suite(
  name: string,
  json: string,
): Promise<{ checked: number; failures: string[] }> {
  await loadConformance();
  return JSON.parse(run(name, json)) as { checked: number; failures: string[] };
}
