/** Known answers: by the package as a page uses it, and by the suites of crates/conformance. */
import loadConformance, {
  run,
  suites as names,
} from "../../../crates/conformance/pkg/randomx_conformance.js";
import type { Configuration, CreateOptions, RandomX } from "../../../wasm/js/index.js";
import { toHex } from "./hex.js";
import { sharedInstance, withInstance } from "./instance.js";
import type { Report } from "./spy.js";
import { reports, spyOnWorkers } from "./workers.js";

/** Inputs of one key and version. */
export interface Batch {
  key: string;
  version: 1 | 2;
  inputs: string[];
}

/** Hashes, and the set-up that computed them. */
export interface Hashed {
  /** Those of each batch, in hex. */
  hashes: string[][];
  configuration: Configuration;
  /** The reports of the workers, if they were watched. */
  workers: Report[];
}

/** Hashes batches in turn, in an instance of its own. Watched workers report what they did. */
export async function hashes(
  options: CreateOptions,
  batches: Batch[],
  { watched = false } = {},
): Promise<Hashed> {
  if (watched) spyOnWorkers();
  return withInstance(options, async (randomx) => {
    const hashes = await hashInTurn(randomx, batches);
    const workers = watched ? await reports() : [];
    return { hashes, configuration: randomx.configuration, workers };
  });
}

/** Hashes batches in turn, in the page's shared instance. */
export async function hashesByDefault(batches: Batch[]): Promise<Hashed> {
  const randomx = await sharedInstance();
  const hashes = await hashInTurn(randomx, batches);
  return { hashes, configuration: randomx.configuration, workers: [] };
}

async function hashInTurn(randomx: RandomX, batches: Batch[]): Promise<string[][]> {
  const hashes: string[][] = [];
  for (const { key, inputs, version } of batches) {
    hashes.push((await randomx.hashMany(key, inputs, { version })).map(toHex));
  }
  return hashes;
}

/** A block given by its hashing blob. */
export interface Block {
  height: number;
  difficulty: string;
  hashing_blob: string;
}

/** Verifies blocks one by one. */
export async function verdicts(
  seedHash: string,
  blocks: Block[],
): Promise<{ valid: boolean; hash: string; seedHeight: number }[]> {
  const randomx = await sharedInstance();
  const results = [];
  for (const { height, difficulty, hashing_blob } of blocks) {
    const block = { seedHash, hashingBlob: hashing_blob, difficulty };
    const { valid, hash } = await randomx.verifyBlock(block);
    const seedHeight = await randomx.seedHeight(height);
    results.push({ valid, hash: hash ? toHex(hash) : "", seedHeight });
  }
  return results;
}

/** A whole block, in the fields of a node's answer. */
export interface WholeBlock {
  block_blob: string;
  seed_hash: string;
  id: string;
  height: number;
}

/** Verifies whole blocks, and names the checks that fail. */
export async function whole(
  blocks: WholeBlock[],
  difficulty: string,
): Promise<{ valid: boolean; hash: string; failed: string[] }[]> {
  const randomx = await sharedInstance();
  const results = [];
  for (const { block_blob, seed_hash, id, height } of blocks) {
    const block = { block: block_blob, seedHash: seed_hash, expectedId: id, height, difficulty };
    const { valid, hash, checks } = await randomx.verifyBlock(block);
    const failed = checks.filter(({ passed }) => passed === false).map(({ name }) => name);
    results.push({ valid, hash: hash ? toHex(hash) : "", failed });
  }
  return results;
}

/** Verifies consecutive blocks as a chain, and returns where it ends. */
export async function chain(
  seedHash: string,
  blocks: (Block & { id: string })[],
): Promise<{ verdicts: string[]; end: { height: number; id: string } | undefined }> {
  const randomx = await sharedInstance();
  const links = blocks.map(({ hashing_blob, ...claims }) => {
    return { hashingBlob: hashing_blob, seedHash, ...claims };
  });
  const verification = randomx.verifyChain(links, { from: blocks[0]?.height });
  const verdicts: string[] = [];
  for await (const { valid, hash } of verification) {
    verdicts.push(`${valid ? "valid" : "invalid"} ${hash ? toHex(hash) : ""}`);
  }
  const { checkpoint } = verification;
  return { verdicts, end: checkpoint && { height: checkpoint.height, id: checkpoint.id } };
}

/** Returns the names of the suites. */
export async function suites(): Promise<string[]> {
  await loadConformance();
  return names();
}

/** Runs a suite on the page's main thread, with the vectors of its file. */
export async function suite(
  name: string,
  json: string,
): Promise<{ checked: number; failures: string[] }> {
  await loadConformance();
  return JSON.parse(run(name, json)) as { checked: number; failures: string[] };
}
