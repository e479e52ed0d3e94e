/** Results of a VM, in the form that workers send. */
import type { Hashed, Times } from "./protocol.js";

const HASH_SIZE = 32;

/** Splits hashes that a VM returned as one array. */
export function splitHashes(joined: Uint8Array): Hashed[] {
  return Array.from({ length: joined.length / HASH_SIZE }, (_, index) => ({
    hash: joined.slice(index * HASH_SIZE, (index + 1) * HASH_SIZE),
  }));
}

/** Names the times that a VM measured. */
export function timesOf(milliseconds: ArrayLike<number>): Times {
  const [fill = 0, generate = 0, compile = 0, execute = 0, items = 0, finish = 0] =
    Array.from(milliseconds);
  return { fill, generate, compile, execute, items, finish };
}
