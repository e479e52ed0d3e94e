/** Real blocks of Monero's main chain: the ones that the tests verify, too. */
import headers from "../../../tests/vectors/mainnet-headers.json";

/** A block and the epoch that it belongs to; bytes are in hex, the difficulty is decimal. */
export interface Example {
  height: number;
  id: string;
  hashingBlob: string;
  difficulty: string;
  seedHash: string;
  seedHeight: number;
}

const examples: Example[] = headers.blocks.map((block) => ({
  height: block.height,
  id: block.id,
  hashingBlob: block.hashing_blob,
  difficulty: block.difficulty,
  seedHash: headers.seed_hash,
  seedHeight: headers.seed_height,
}));

/** The examples in turn, without end. */
export function* inTurn(): Generator<Example, never> {
  for (;;) yield* examples;
}
