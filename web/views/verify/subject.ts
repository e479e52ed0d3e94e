/** A block to verify, and the claims about it. */

/** Bytes are in hex and the difficulty in decimal digits, as people type them. */
export interface Subject {
  /** The source, as a heading. */
  origin: string;
  /** The block blob, or else the hashing blob. */
  block?: string;
  hashingBlob?: string;
  seedHash: string;
  difficulty: string;
  expectedId?: string;
  height?: number;
}

/** The longest hashing blob. A block is longer, because of its miner transaction. */
const LONGEST_HASHING_BLOB = 96;

/** Tells blocks and hashing blobs apart by their lengths, since both begin alike. */
export function kindOf(hex: string): "block" | "hashingBlob" {
  return hex.length / 2 > LONGEST_HASHING_BLOB ? "block" : "hashingBlob";
}

/** Returns the subject's bytes. */
export function bytesOf({ block, hashingBlob }: Subject): string {
  return block ?? hashingBlob ?? "";
}
