/**
 * Targets and difficulties of shares, in the forms that pools use. Each becomes the greatest value that a hash may
 * have, read as a little-endian number of 256 bits.
 */
import { invalidArgument } from "../errors.js";
import * as validate from "../validate.js";

const LIMIT = 1n << 256n;
const MAX_64 = 0xffff_ffff_ffff_ffffn;
const MAX_32 = 0xffff_ffffn;

/** Returns the greatest hash that meets a target; see `Share.target`. */
export function fromTarget(name: string, value: unknown): bigint {
  if (typeof value === "bigint") {
    if (value >= 1n && value < LIMIT) return value;
    throw invalidArgument(name, "expected a number from 1 to 2^256 - 1");
  }
  const bytes = validate.bytes(name, value);
  if (![4, 8, 32].includes(bytes.length)) {
    throw invalidArgument(name, `expected 4, 8 or 32 bytes, got ${bytes.length} bytes`);
  }
  const target = valueOf(bytes);
  if (target === 0n) throw invalidArgument(name, "expected more than 0, which no hash meets");
  if (bytes.length === 32) return target;
  // XMRig, `Job::setTarget`. Its workers compare the last 8 bytes of the hash with the 64 bits.
  const top = bytes.length === 8 ? target : MAX_64 / (MAX_32 / target);
  return (top << 192n) - 1n;
}

/** Returns the greatest hash that meets a difficulty: times the difficulty it is below 2^256. */
export function fromDifficulty(name: string, value: unknown): bigint {
  return (LIMIT - 1n) / BigInt(validate.difficulty(name, value));
}

/** Returns the greatest difficulty that a hash meets. */
export function difficultyOf(hash: bigint): bigint {
  return (LIMIT - 1n) / (hash || 1n);
}

/** Returns bytes as a little-endian number. Their count is a multiple of 4. */
export function valueOf(bytes: Uint8Array): bigint {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let value = 0n;
  for (let at = bytes.length - 4; at >= 0; at -= 4) {
    value = (value << 32n) | BigInt(view.getUint32(at, true));
  }
  return value;
}
