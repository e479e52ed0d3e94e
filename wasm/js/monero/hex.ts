/** Hex, as nodes and checkpoints use it. `validate.bytes` reads the hex of callers. */

/** Returns two lower-case hex digits for each byte. */
export function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
