/** Results of a VM, in the form that workers send. */
import { HASH_SIZE } from "./sizes.js";
import type { Result } from "./protocol.js";
import type { Times } from "./types.js";

/** Returns the hash of each input. The hash of an input that cannot be read has no bytes. */
export function splitHashes(
  { hashes, unreadable }: Pick<Result<"hash">, "hashes" | "unreadable">,
  inputs: number,
): Uint8Array[] {
  let at = 0;
  return Array.from({ length: inputs }, (_, index) =>
    unreadable.includes(index) ? new Uint8Array() : hashes.slice(at, (at += HASH_SIZE)),
  );
}

/** Names the times that a VM measured. */
export function timesOf(milliseconds: ArrayLike<number>): Times {
  const [fill = 0, generate = 0, compile = 0, execute = 0, items = 0, finish = 0] =
    Array.from(milliseconds);
  return { fill, generate, compile, execute, items, finish };
}
