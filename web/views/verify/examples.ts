/** Real blocks of Monero's main chain, which the tests verify too. */
import headers from "../../../tests/vectors/mainnet-headers.json";
// A separate file, which loads while the first worker starts.
import wholeBlocks from "../../../tests/vectors/mainnet-blocks.json?url";
import { load } from "../../shell/load.js";
import { whole } from "../../shell/words.js";
import type { Subject } from "./subject.js";

/** The least difficulty that the hashes of the whole blocks meet. Their file does not state the chain's difficulty. */
const MET_BY_ALL = "704249165145";

/** Hashing blobs of blocks, with the difficulties that the chain required. */
export const examples: readonly (Subject & { height: number })[] = headers.blocks.map((block) => ({
  origin: "A real block of Monero’s main chain",
  title: `Block ${whole(block.height)}`,
  example: block.height,
  hashingBlob: block.hashing_blob,
  seedHash: headers.seed_hash,
  difficulty: block.difficulty,
  expectedId: block.id,
  height: block.height,
}));

/** The whole blocks, in words. The first is shown first. */
export const WHOLE: readonly { height: number; words: string }[] = [
  { height: 3455947, words: "the newest" },
  { height: 3455896, words: "67 transactions, the most" },
  { height: 3455887, words: "2 transactions, the fewest" },
  { height: 3455835, words: "the oldest" },
  { height: 3455927, words: "52 transactions" },
  { height: 3455891, words: "30 transactions" },
  { height: 3455905, words: "6 transactions" },
];

/** A whole block in the tests' file. */
interface WholeBlock {
  height: number;
  id: string;
  seed_hash: string;
  hashing_blob: string;
  block_blob: string;
}

/** The whole blocks, once they are loaded. */
let loaded: readonly WholeBlock[] | undefined;

/** Loads a whole block, with its miner's transaction and the hashes of the others. */
export async function wholeExample(height: number, signal: AbortSignal): Promise<Subject> {
  loaded ??= ((await (await load(wholeBlocks, signal)).json()) as { blocks: WholeBlock[] }).blocks;
  const found = loaded.find((block) => block.height === height);
  if (!found) throw new Error(`there is no example at height ${whole(height)}`);
  return {
    origin: "A whole block of the main chain; its exact difficulty is not known here",
    title: `Block ${whole(height)}`,
    example: height,
    block: found.block_blob,
    hashingBlob: found.hashing_blob,
    seedHash: found.seed_hash,
    difficulty: MET_BY_ALL,
    difficultyName: "Met by all seven blocks",
    expectedId: found.id,
    height,
  };
}
