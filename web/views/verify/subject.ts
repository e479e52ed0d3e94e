/** A block to be verified, and what is said about it. */

/** Bytes in hex, the difficulty in decimal digits: as people type them. */
export interface Subject {
  /** Where it comes from, as a heading says it. */
  origin: string;
  /** The block blob, or else the hashing blob. */
  block?: string;
  hashingBlob?: string;
  seedHash: string;
  difficulty: string;
  expectedId?: string;
  height?: number;
}

/** The longest hashing blob: a block has at least as many bytes of a miner transaction besides. */
const LONGEST_HASHING_BLOB = 96;

/** Which of the two some bytes in hex are. Both begin alike, but a whole block is never that short. */
export function kindOf(hex: string): "block" | "hashingBlob" {
  return hex.length / 2 > LONGEST_HASHING_BLOB ? "block" : "hashingBlob";
}

/** The bytes that a subject is known by. */
export function bytesOf({ block, hashingBlob }: Subject): string {
  return block ?? hashingBlob ?? "";
}
