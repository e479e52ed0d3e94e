/** Inputs, from the template and the bytes that differ. */
import type { Input } from "./protocol.js";

/** Returns the bytes that wait for an input: its own, or those that it changes in a template. */
export function sizeOf({ bytes, patches }: Input): number {
  return patches ? patches.reduce((sum, patch) => sum + patch.bytes.length, 0) : bytes.length;
}

/** Returns the bytes of an input. */
export function bytesOf({ bytes, patches }: Input): Uint8Array {
  return patches ? patched(bytes, patches) : bytes;
}

/** Returns a copy of some bytes with changes, which lie inside. */
export function patched(
  bytes: Uint8Array,
  patches: NonNullable<Input["patches"]>,
): Uint8Array<ArrayBuffer> {
  const copy = new Uint8Array(bytes);
  for (const patch of patches) copy.set(patch.bytes, patch.offset);
  return copy;
}
