/**
 * Arguments at the edge: each function returns the value in the one form that the worker
 * knows, or throws an `invalid-argument` that names the argument. Bytes are copied, so that
 * the caller may change or transfer its own while the work waits.
 */
import { invalidArgument } from "./errors.js";
import type { Progress } from "./job.js";
import type { Source } from "./stream.js";

/** Bytes, as such or as a string of two hexadecimal digits a byte, in either case. */
export type Bytes = Uint8Array | string;

/** RandomX 1, which Monero runs, or 2. */
export type Version = 1 | 2;

/** A difficulty from 1 to 2^256 - 1; a string holds decimal digits only. */
export type Difficulty = bigint | number | string;

/** A network of Monero nodes; `regtest` is a private chain of `monerod --regtest`. */
export type Network = "mainnet" | "stagenet" | "testnet" | "regtest";

/** The longest key or input, in bytes: 1 MiB. */
export const MAX_BYTES = 1 << 20;

/** The size of a hash, and of a seed hash, in bytes. */
export const HASH_SIZE = 32;

const DIFFICULTY_LIMIT = 1n << 256n;
const DIFFICULTY_DIGITS = 78;

/** A copy of at most `MAX_BYTES` bytes. */
export function bytes(name: string, value: unknown): Uint8Array<ArrayBuffer> {
  if (typeof value === "string") return fromHex(name, value);
  if (!isBytes(value)) {
    throw invalidArgument(name, `expected a Uint8Array or a string of hex, got ${kind(value)}`);
  }
  atMost(name, value.length);
  return new Uint8Array(value);
}

/** A copy of exactly `HASH_SIZE` bytes. */
export function hash(name: string, value: unknown): Uint8Array<ArrayBuffer> {
  const copy = bytes(name, value);
  if (copy.length !== HASH_SIZE) {
    throw invalidArgument(
      name,
      `expected ${HASH_SIZE} bytes (${2 * HASH_SIZE} hex characters), got ${copy.length} bytes`,
    );
  }
  return copy;
}

/** Copies of a list of inputs. */
export function byteArrays(name: string, value: unknown): Uint8Array<ArrayBuffer>[] {
  if (!Array.isArray(value))
    throw invalidArgument(name, `expected an array or an iterable, got ${kind(value)}`);
  return Array.from(value, (entry: unknown, index) => bytes(`${name}[${index}]`, entry));
}

/** Whether inputs come one by one. Bytes and strings can be iterated too, but not over inputs. */
export function isSource(value: readonly Bytes[] | Source<Bytes>): value is Source<Bytes> {
  const given: unknown = value;
  return (
    typeof given === "object" &&
    given !== null &&
    !Array.isArray(given) &&
    !ArrayBuffer.isView(given) &&
    (Symbol.asyncIterator in given || Symbol.iterator in given)
  );
}

/** A version of RandomX. */
export function version(name: string, value: unknown): Version {
  if (value !== 1 && value !== 2) {
    throw invalidArgument(name, `expected 1 or 2, got ${shown(value)}`);
  }
  return value;
}

/** A difficulty, as decimal digits. */
export function difficulty(name: string, value: unknown): string {
  const whole = wholeDifficulty(name, value);
  if (whole < 1n) throw invalidArgument(name, `expected at least 1, got ${whole}`);
  if (whole >= DIFFICULTY_LIMIT) throw invalidArgument(name, "expected less than 2^256");
  return whole.toString();
}

/** A whole number from 1 to a limit. */
export function count(name: string, value: unknown, limit: number): number {
  if (typeof value !== "number" || !Number.isInteger(value) || value < 1 || value > limit) {
    throw invalidArgument(name, `expected a whole number from 1 to ${limit}, got ${shown(value)}`);
  }
  return value;
}

/** One of some words or numbers. */
export function oneOf<T extends string | number>(
  name: string,
  value: unknown,
  values: readonly T[],
): T {
  const found = values.find((each) => each === value);
  if (found === undefined) {
    throw invalidArgument(name, `expected one of ${values.join(", ")}, got ${shown(value)}`);
  }
  return found;
}

/** A block height. */
export function height(name: string, value: unknown): number {
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0) {
    throw invalidArgument(name, `expected a whole number from 0 to 2^53 - 1, got ${shown(value)}`);
  }
  return value;
}

/** An address in full, or none. */
export function address(name: string, value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== "string" && !(value instanceof URL)) {
    throw invalidArgument(name, `expected a URL or a string, got ${kind(value)}`);
  }
  const { document, location } = globalThis as { document?: Document; location?: Location };
  try {
    return new URL(value, document?.baseURI ?? location?.href).href;
  } catch {
    throw invalidArgument(name, `expected an address, got ${JSON.stringify(String(value))}`);
  }
}

/** An object with the named properties; each of them is checked on its own. */
export function record(name: string, value: unknown): Record<string, unknown> {
  if (typeof value !== "object" || value === null) {
    throw invalidArgument(name, `expected an object, got ${kind(value)}`);
  }
  return value as Record<string, unknown>;
}

/** An `AbortSignal`, or none. */
export function signal(name: string, value: unknown): AbortSignal | undefined {
  if (value === undefined || value instanceof AbortSignal) return value;
  throw invalidArgument(name, `expected an AbortSignal, got ${kind(value)}`);
}

/** A function that hears of progress, or none. */
export function progress(name: string, value: unknown): ((now: Progress) => void) | undefined {
  if (value === undefined || typeof value === "function") return value as (now: Progress) => void;
  throw invalidArgument(name, `expected a function, got ${kind(value)}`);
}

function fromHex(name: string, text: string): Uint8Array<ArrayBuffer> {
  atMost(name, Math.ceil(text.length / 2));
  const stranger = /[^0-9a-f]/iu.exec(text);
  if (stranger) {
    throw invalidArgument(
      name,
      `expected hex characters (0-9, a-f), got ${JSON.stringify(stranger[0])} at position ${stranger.index}`,
    );
  }
  if (text.length % 2 === 1) {
    throw invalidArgument(name, `expected an even number of hex characters, got ${text.length}`);
  }
  const bytes = new Uint8Array(text.length / 2);
  for (let index = 0; index < bytes.length; index += 1) {
    bytes[index] = 16 * digit(text, 2 * index) + digit(text, 2 * index + 1);
  }
  return bytes;
}

/** The value of a hex character: letters, in either case, have bit 6 and begin at 1. */
function digit(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return (code & 15) + 9 * (code >> 6);
}

/** Also where it comes from another realm, such as a frame or a test runner's. */
function isBytes(value: unknown): value is Uint8Array {
  return (
    value instanceof Uint8Array ||
    (ArrayBuffer.isView(value) && value.constructor.name === "Uint8Array")
  );
}

function atMost(name: string, length: number): void {
  if (length > MAX_BYTES) {
    throw invalidArgument(name, `expected at most ${MAX_BYTES} bytes, got ${length} bytes`);
  }
}

function wholeDifficulty(name: string, value: unknown): bigint {
  switch (typeof value) {
    case "bigint":
      return value;
    case "number":
      if (Number.isSafeInteger(value)) return BigInt(value);
      if (Number.isInteger(value)) {
        throw invalidArgument(
          name,
          `expected a bigint or a string for a number over 2^53 - 1, got ${value}`,
        );
      }
      throw invalidArgument(name, `expected a whole number, got ${value}`);
    case "string":
      if (!/^[0-9]+$/u.test(value)) {
        throw invalidArgument(name, "expected decimal digits only");
      }
      if (value.length > DIFFICULTY_DIGITS) throw invalidArgument(name, "expected less than 2^256");
      return BigInt(value);
    default:
      throw invalidArgument(
        name,
        `expected a bigint, a number or a string of decimal digits, got ${kind(value)}`,
      );
  }
}

/** A value as a sentence can hold it: a short one itself, else its kind. */
function shown(value: unknown): string {
  return typeof value === "number" || typeof value === "bigint" ? String(value) : kind(value);
}

function kind(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  return typeof value === "object"
    ? Object.prototype.toString.call(value).slice(8, -1)
    : typeof value;
}
