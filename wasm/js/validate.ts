/**
 * Checks of arguments. Each function returns a value in the one form that the worker takes, or
 * throws an `invalid-argument` that names the argument. Objects are read defensively: a getter or a
 * Proxy can throw anything. Bytes are copied, so that the caller can change or transfer its own
 * while the work waits.
 */
import { RandomXError, asRandomXError, invalidArgument } from "./errors.js";
import type { Bytes, Progress, Source, Version } from "./types.js";

/** The limit for the bytes of a key or an input: 1 MiB. */
export const MAX_BYTES = 1 << 20;

/** The bytes of a hash, and of a seed hash. */
export const HASH_SIZE = 32;

const DIFFICULTY_LIMIT = 1n << 256n;
const DIFFICULTY_DIGITS = 78;

/**
 * The prototype of all typed arrays. Its getters work for arrays of other frames and without a
 * prototype, and run no code of the array.
 */
const TYPED_ARRAY = Object.getPrototypeOf(Uint8Array.prototype) as object;

/** Returns a copy of at most `MAX_BYTES` bytes. */
export function bytes(name: string, value: unknown): Uint8Array<ArrayBuffer> {
  size(name, value);
  if (typeof value === "string") return fromHex(name, value);
  try {
    return new Uint8Array(value as Uint8Array);
  } catch (cause) {
    const message = `${name}: expected bytes, got a Uint8Array whose buffer is detached or too short`;
    throw new RandomXError("invalid-argument", message, { cause });
  }
}

/** Returns a copy of exactly `HASH_SIZE` bytes. */
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

/**
 * Returns copies of a list of inputs. `admit` receives their number before any is read, and the sum
 * of their bytes before any is copied; it can refuse them.
 */
export function byteArrays(
  name: string,
  value: unknown,
  admit: (inputs: number, bytes: number) => void = () => undefined,
): Uint8Array<ArrayBuffer>[] {
  const inputs = reading(name, () => {
    if (!Array.isArray(value)) {
      throw invalidArgument(name, `expected an array or an iterable, got ${kind(value)}`);
    }
    const { length } = value;
    admit(length, 0);
    const inputs: unknown[] = [];
    let sum = 0;
    for (let index = 0; index < length; index += 1) {
      const input: unknown = value[index];
      sum += size(`${name}[${index}]`, input);
      inputs.push(input);
    }
    admit(length, sum);
    return inputs;
  });
  return inputs.map((input, index) => bytes(`${name}[${index}]`, input));
}

/** Reads an array of at most so many entries. */
export function list(name: string, value: unknown, most: number): unknown[] {
  return reading(name, () => {
    if (!Array.isArray(value)) {
      throw invalidArgument(name, `expected an array, got ${kind(value)}`);
    }
    const { length } = value;
    if (length > most) {
      throw invalidArgument(name, `expected at most ${most} entries, got ${length}`);
    }
    return Array.from({ length }, (_, index): unknown => value[index]);
  });
}

/** Tells whether inputs arrive one by one. Bytes and strings are iterable too, but are no inputs. */
export function isSource(value: readonly Bytes[] | Source<Bytes>): value is Source<Bytes> {
  const given: unknown = value;
  try {
    return (
      typeof given === "object" &&
      given !== null &&
      !Array.isArray(given) &&
      !ArrayBuffer.isView(given) &&
      (Symbol.asyncIterator in given || Symbol.iterator in given)
    );
  } catch {
    // `byteArrays` reports a value that cannot be read.
    return false;
  }
}

/** Checks an argument that may be `undefined`. */
export function optional<T>(
  name: string,
  value: unknown,
  check: (name: string, value: unknown) => T,
): T | undefined {
  return value === undefined ? undefined : check(name, value);
}

/** Returns a version of RandomX. */
export function version(name: string, value: unknown): Version {
  if (value !== 1 && value !== 2) {
    throw invalidArgument(name, `expected 1 or 2, got ${shown(value)}`);
  }
  return value;
}

/** Returns a difficulty as decimal digits. */
export function difficulty(name: string, value: unknown): string {
  const whole = wholeDifficulty(name, value);
  if (whole < 1n) throw invalidArgument(name, `expected at least 1, got ${whole}`);
  if (whole >= DIFFICULTY_LIMIT) throw invalidArgument(name, "expected less than 2^256");
  return whole.toString();
}

/** Returns a whole number from 1 to a limit. */
export function count(name: string, value: unknown, limit: number): number {
  if (typeof value !== "number" || !Number.isInteger(value) || value < 1 || value > limit) {
    throw invalidArgument(name, `expected a whole number from 1 to ${limit}, got ${shown(value)}`);
  }
  return value;
}

/** Returns a value that must be one of some strings or numbers. */
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

/** Returns a block height. */
export function height(name: string, value: unknown): number {
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0) {
    throw invalidArgument(name, `expected a whole number from 0 to 2^53 - 1, got ${shown(value)}`);
  }
  return value;
}

/** Returns an absolute address, or `undefined` for `undefined`. */
export function address(name: string, value: unknown): string | undefined {
  if (value === undefined) return undefined;
  const { document, location } = globalThis as { document?: Document; location?: Location };
  return reading(name, () => {
    if (typeof value !== "string" && !(value instanceof URL)) {
      throw invalidArgument(name, `expected a URL or a string, got ${kind(value)}`);
    }
    const text = String(value);
    try {
      return new URL(text, document?.baseURI ?? location?.href).href;
    } catch {
      throw invalidArgument(name, `expected an address, got ${JSON.stringify(text.slice(0, 200))}`);
    }
  });
}

/** Reads fields of an object, each once. */
export function fields<Name extends string>(
  name: string,
  value: unknown,
  ...wanted: readonly Name[]
): Record<Name, unknown> {
  if (typeof value !== "object" || value === null) {
    throw invalidArgument(name, `expected an object, got ${kind(value)}`);
  }
  const read = (): [Name, unknown][] =>
    wanted.map((field) => [field, (value as Partial<Record<Name, unknown>>)[field]]);
  return Object.fromEntries(reading(name, read)) as Record<Name, unknown>;
}

/** Reads all of an object's own fields. */
export function entries(name: string, value: unknown): [string, unknown][] {
  fields(name, value);
  return reading(name, () => Object.entries(value as object));
}

/** Returns an `AbortSignal`, or `undefined` for `undefined`. */
export function signal(name: string, value: unknown): AbortSignal | undefined {
  if (value === undefined) return undefined;
  try {
    Reflect.get(AbortSignal.prototype, "aborted", value);
    return value as AbortSignal;
  } catch {
    throw invalidArgument(name, `expected an AbortSignal, got ${kind(value)}`);
  }
}

/** Returns a function that receives progress, or `undefined` for `undefined`. */
export function progress(name: string, value: unknown): ((now: Progress) => void) | undefined {
  if (value === undefined || typeof value === "function") return value as (now: Progress) => void;
  throw invalidArgument(name, `expected a function, got ${kind(value)}`);
}

/** Reads an argument by code that the caller may have written. Only `RandomXError`s leave it. */
export function reading<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (thrown) {
    const cause = asRandomXError(thrown);
    if (cause === thrown) throw cause;
    throw new RandomXError("invalid-argument", `${name}: it cannot be read: ${cause.message}`, {
      cause: thrown,
    });
  }
}

/** Returns how many bytes a value has, as such or in hex. */
function size(name: string, value: unknown): number {
  const length =
    typeof value === "string"
      ? Math.ceil(value.length / 2)
      : Reflect.get(TYPED_ARRAY, Symbol.toStringTag, value) === "Uint8Array" &&
        Number(Reflect.get(TYPED_ARRAY, "length", value));
  if (length === false) {
    throw invalidArgument(name, `expected a Uint8Array or a string of hex, got ${kind(value)}`);
  }
  if (length > MAX_BYTES) {
    throw invalidArgument(name, `expected at most ${MAX_BYTES} bytes, got ${length} bytes`);
  }
  return length;
}

function fromHex(name: string, text: string): Uint8Array<ArrayBuffer> {
  const wrong = /[^0-9a-f]/iu.exec(text);
  if (wrong) {
    throw invalidArgument(
      name,
      `expected hex characters (0-9, a-f), got ${JSON.stringify(wrong[0])} at position ${wrong.index}`,
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

/** Returns the value of a hex character. Letters, in either case, have bit 6 and begin at 1. */
function digit(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return (code & 15) + 9 * (code >> 6);
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

/** Returns a number itself, and the kind of any other value. */
function shown(value: unknown): string {
  return typeof value === "number" || typeof value === "bigint" ? String(value) : kind(value);
}

function kind(value: unknown): string {
  if (value === null) return "null";
  if (typeof value !== "object") return typeof value;
  try {
    if (Array.isArray(value)) return "an array";
    return Object.prototype.toString.call(value).slice(8, -1).slice(0, 40);
  } catch {
    return "an object that cannot be read";
  }
}
