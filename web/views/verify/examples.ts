/** Real blocks of Monero's main chain, which the tests verify too. */
import headers from "../../../tests/vectors/mainnet-headers.json";
// A separate file, since most visitors do not need it.
import wholeBlocks from "../../../tests/vectors/mainnet-blocks.json?url";
import { whole } from "../../shell/words.js";
import type { Subject } from "./subject.js";

/** The least difficulty of the whole blocks, as their file states. */
const AT_LEAST = "704249165145";

/** Hashing blobs of blocks, with the difficulties that the chain required. */
export const examples: readonly (Subject & { height: number })[] = headers.blocks.map((block) => ({
  origin: "A real block of Monero’s main chain",
  hashingBlob: block.hashing_blob,
  seedHash: headers.seed_hash,
  difficulty: block.difficulty,
  expectedId: block.id,
  height: block.height,
}));

/** The heights of the whole blocks. */
export const WHOLE_HEIGHTS = [3455887, 3455905, 3455947, 3455835, 3455891, 3455927, 3455896];

/** Loads a whole block, with its miner's transaction and the hashes of the others. */
export async function wholeExample(height: number, signal: AbortSignal): Promise<Subject> {
  const answer = await fetch(wholeBlocks, { signal });
  if (!answer.ok) throw new Error(`the examples cannot be loaded: status ${answer.status}`);
  const { blocks } = (await answer.json()) as {
    blocks: { height: number; id: string; seed_hash: string; block_blob: string }[];
  };
  const found = blocks.find((block) => block.height === height);
  if (!found) throw new Error(`there is no example at height ${whole(height)}`);
  return {
    origin: "A real, whole block of Monero’s main chain; its difficulty is at least the one shown",
    block: found.block_blob,
    seedHash: found.seed_hash,
    difficulty: AT_LEAST,
    expectedId: found.id,
    height,
  };
}
