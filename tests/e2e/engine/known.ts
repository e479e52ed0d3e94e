/** The known hashes of `tests/vectors`, all files, in batches that share a key and a version. */
import type { Batch } from "../harness/vectors.js";
import { readText } from "../support.js";

/** Inputs of one key and version, and their hashes. */
export interface KnownBatch extends Batch {
  /** The file that they are from, without its extension. */
  file: string;
  hashes: string[];
}

/** A hash with all that goes into it. */
interface Vector {
  version: 1 | 2;
  key: string;
  input: string;
  hash: string;
}

/** A block of Monero's main net, or a share of one. */
interface Block {
  seed_hash?: string;
  hashing_blob: string;
  pow_hash: string;
}

/** The files of whole hashes, and how many each has: a file that lost some is noticed. */
const FILES = {
  "specification-hashes": 10,
  "reference-hashes": 80,
  "mainnet-headers": 8,
  "mainnet-blocks": 7,
  "mainnet-shares": 200,
};

/** Every known hash; those of a key stay together, because another one needs another cache. */
export const known: KnownBatch[] = Object.entries(FILES)
  .flatMap(([file, count]) => {
    const vectors = readVectors(file);
    if (vectors.length !== count) throw new Error(`${file} has ${vectors.length} hashes`);
    return group(file, vectors);
  })
  .sort((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key)));

/** How many hashes batches have. */
export function count(batches: readonly KnownBatch[]): number {
  return batches.reduce((sum, { hashes }) => sum + hashes.length, 0);
}

/** A batch of another length: some of its inputs, or all of them again and again. */
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

/** One batch for each key and version. */
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
