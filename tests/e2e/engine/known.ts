/** The known hashes of `tests/vectors`, in batches that share a key and a version. */
import type { Batch } from "../harness/vectors.js";
import { readText } from "../support.js";

/** Inputs of one key and version, and their hashes. */
export interface KnownBatch extends Batch {
  /** The file's name without its extension. */
  file: string;
  hashes: string[];
}

/** A hash with everything it depends on. */
interface Vector {
  version: 1 | 2;
  key: string;
  input: string;
  hash: string;
}

/** A block or a share of Monero's main chain. */
interface Block {
  seed_hash?: string;
  hashing_blob: string;
  pow_hash: string;
}

/** The files of whole hashes with their numbers of hashes, so that a missing hash is noticed. */
const FILES = {
  "specification-hashes": 10,
  "reference-hashes": 80,
  "mainnet-headers": 8,
  "mainnet-blocks": 7,
  "mainnet-shares": 200,
};

/** Every known hash; those of a key stay together, because each key needs its own cache. */
export const known: KnownBatch[] = Object.entries(FILES)
  .flatMap(([file, count]) => {
    const vectors = readVectors(file);
    if (vectors.length !== count) {
      throw new Error(`${file}: expected ${count} hashes, got ${vectors.length}`);
    }
    return group(file, vectors);
  })
  .sort((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key)));

/** Returns the number of hashes in some batches. */
export function count(batches: readonly KnownBatch[]): number {
  return batches.reduce((sum, { hashes }) => sum + hashes.length, 0);
}

/** Returns a batch of another length, with the same inputs in a cycle. */
export function repeat(batch: KnownBatch, length: number): KnownBatch {
  const cycle = (values: string[]): string[] =>
    Array.from({ length }, (_, index) => values[index % values.length] ?? "missing");
  return { ...batch, inputs: cycle(batch.inputs), hashes: cycle(batch.hashes) };
}

function readVectors(file: string): Vector[] {
  const content = JSON.parse(readText(`tests/vectors/${file}.json`)) as {
    vectors?: Vector[];
    blocks?: Block[];
    shares?: Block[];
    seed_hash?: string;
  };
  if (content.vectors) return content.vectors;
  return (content.blocks ?? content.shares ?? []).map((block) => ({
    version: 1,
    key: block.seed_hash ?? content.seed_hash ?? "missing",
    input: block.hashing_blob,
    hash: block.pow_hash,
  }));
}

/** Makes a batch for each key and version. */
function group(file: string, vectors: Vector[]): KnownBatch[] {
  const keys = [...new Set(vectors.map(({ key }) => key))];
  return keys.flatMap((key) =>
    ([1, 2] as const).flatMap((version) => {
      const some = vectors.filter((vector) => vector.key === key && vector.version === version);
      const inputs = some.map(({ input }) => input);
      const hashes = some.map(({ hash }) => hash);
      return some.length > 0 ? [{ file, key, version, inputs, hashes }] : [];
    }),
  );
}
