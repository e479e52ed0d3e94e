/** Hex, as nodes and checkpoints use it. `validate.bytes` reads the hex of callers. */

/** Returns two lower-case hex digits for each byte. */
export function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * Returns the bytes that lower-case hex digits stand for, or `undefined` for another text. It takes a
 * few milliseconds for a MiB, where a regular expression would need memory for each digit.
 */
export function fromHexDigits(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (text.length % 2 === 1) return undefined;
  const bytes = new Uint8Array(text.length / 2);
  let isHex = true;
  for (let index = 0; index < bytes.length; index += 1) {
    const high = digit(text.charCodeAt(2 * index));
    const low = digit(text.charCodeAt(2 * index + 1));
    isHex &&= high >= 0 && low >= 0;
    bytes[index] = 16 * high + low;
  }
  return isHex ? bytes : undefined;
}

/** Returns the value of a character, or -1 if it is no lower-case hex digit. */
function digit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  return code >= 0x61 && code <= 0x66 ? code - 0x57 : -1;
}
