/** The inputs of requests, which may be templates with changes, and the form in which messages carry them. */
import type { Input, Inputs, Patch } from "./protocol.js";

/** Returns the bytes that wait for an input: its own, or those that it changes in a template. */
export function sizeOf({ bytes, patches }: Input): number {
  return patches ? patches.reduce((sum, patch) => sum + patch.bytes.length, 0) : bytes.length;
}

/** Returns the bytes in the arguments of an operation. */
export function bytesIn(value: unknown): number {
  if (ArrayBuffer.isView(value)) return value.byteLength;
  if (typeof value !== "object" || value === null) return 0;
  return Object.values(value).reduce<number>((sum, field) => sum + bytesIn(field), 0);
}

/** Writes changes, which lie inside, into bytes. */
export function patch(bytes: Uint8Array, patches: readonly Patch[]): void {
  for (const { offset, bytes: changed } of patches) bytes.set(changed, offset);
}

/** Returns inputs as a message has them. */
export function packed(inputs: readonly Input[]): Inputs {
  const lengths = inputs.map(({ bytes }) => bytes.length);
  const joined = new Uint8Array(lengths.reduce((sum, length) => sum + length, 0));
  let at = 0;
  for (const { bytes, patches } of inputs) {
    const input = joined.subarray(at, (at += bytes.length));
    input.set(bytes);
    if (patches) patch(input, patches);
  }
  const blocks = inputs.flatMap(({ isBlock }, index) => (isBlock ? index : []));
  return { bytes: joined, lengths, blocks };
}

/** Returns the inputs of a message, which share its buffer. */
export function unpacked({ bytes, lengths }: Inputs): Uint8Array[] {
  let at = 0;
  return lengths.map((length) => bytes.subarray(at, (at += length)));
}
