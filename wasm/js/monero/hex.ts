/** Hex, as nodes and checkpoints use it. `validate.bytes` reads the hex of callers. */

/** Returns two lower-case hex digits for each byte. */
export function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The value of each byte as a lower-case hex digit, or 255. */
const VALUES = new Uint8Array(256).fill(0xff);
for (let value = 0; value < 16; value += 1) VALUES[value.toString(16).charCodeAt(0)] = value;

const encoder = new TextEncoder();

/**
 * Returns the bytes that lower-case hex digits stand for, or `undefined` for another text. It takes ten
 * milliseconds for a MiB; `charCodeAt` takes twice as long, and a regular expression needs memory for
 * each digit.
 */
export function fromHexDigits(text: string): Uint8Array<ArrayBuffer> | undefined {
  const digits = encoder.encode(text);
  if (digits.length % 2 === 1) return undefined;
  const bytes = new Uint8Array(digits.length / 2);
  let seen = 0;
  for (let index = 0; index < bytes.length; index += 1) {
    const high = VALUES[digits[2 * index] ?? 0] ?? 0;
    const low = VALUES[digits[2 * index + 1] ?? 0] ?? 0;
    seen |= high | low;
    bytes[index] = (high << 4) | low;
  }
  return seen > 0xf ? undefined : bytes;
}
