/** Known answers: by the package as a page uses it, and by the suites of crates/conformance. */
import loadConformance, {
  run,
  suites as names,
} from "../../../crates/conformance/pkg/randomx_conformance.js";
import type { Configuration, CreateOptions } from "../../../wasm/js/index.js";
import { toHex } from "./hex.js";
import { withInstance } from "./instance.js";
import type { Report } from "./spy.js";
import { reports, spyOnWorkers } from "./workers.js";

/** Inputs of one key and version. */
export interface Batch {
  key: string;
  version: 1 | 2;
  inputs: string[];
}

/** Hashes, and how they came to be. */
export interface Hashed {
  /** Those of each batch, in hex. */
  hashes: string[][];
  configuration: Configuration;
  /** What each worker did; only where they were watched. */
  workers: Report[];
}

/** Hashes batches in turn; watched, the workers tell what they did. */
export async function hashes(
  options: CreateOptions,
  batches: Batch[],
  { watched = false } = {},
): Promise<Hashed> {
  if (watched) spyOnWorkers();
  return withInstance(options, async (randomx) => {
    const hashes: string[][] = [];
    for (const { key, inputs, version } of batches) {
      hashes.push((await randomx.hashMany(key, inputs, { version })).map(toHex));
    }
    const workers = watched ? await reports() : [];
    return { hashes, configuration: randomx.configuration, workers };
  });
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
  return withInstance({}, async (randomx) => {
    const results = [];
    for (const { height, difficulty, hashing_blob } of blocks) {
      const block = { seedHash, hashingBlob: hashing_blob, difficulty };
      const { valid, hash } = await randomx.verifyBlock(block);
      const seedHeight = await randomx.seedHeight(height);
      results.push({ valid, hash: hash ? toHex(hash) : "", seedHeight });
    }
    return results;
  });
}

/** A block as a node tells it. */
export interface WholeBlock {
  block_blob: string;
  seed_hash: string;
  id: string;
  height: number;
}

/** What the package says of blocks, and where it says no. */
export async function whole(
  blocks: WholeBlock[],
  difficulty: string,
): Promise<{ valid: boolean; hash: string; failed: string[] }[]> {
  return withInstance({}, async (randomx) => {
    const results = [];
    for (const { block_blob, seed_hash, id, height } of blocks) {
      const block = { block: block_blob, seedHash: seed_hash, expectedId: id, height, difficulty };
      const { valid, hash, checks } = await randomx.verifyBlock(block);
      const failed = checks.filter(({ passed }) => passed === false).map(({ name }) => name);
      results.push({ valid, hash: hash ? toHex(hash) : "", failed });
    }
    return results;
  });
}

/** What the package says of consecutive blocks as a chain, and where it ends. */
export async function chain(
  seedHash: string,
  blocks: (Block & { id: string })[],
): Promise<{ verdicts: string[]; end: { height: number; id: string } | undefined }> {
  return withInstance({}, async (randomx) => {
    const links = blocks.map(({ hashing_blob, ...told }) => {
      return { hashingBlob: hashing_blob, seedHash, ...told };
    });
    const verification = randomx.verifyChain(links, { from: blocks[0]?.height });
    const verdicts: string[] = [];
    for await (const { valid, hash } of verification) {
      verdicts.push(`${valid ? "valid" : "invalid"} ${hash ? toHex(hash) : ""}`);
    }
    const { checkpoint } = verification;
    return { verdicts, end: checkpoint && { height: checkpoint.height, id: checkpoint.id } };
  });
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
