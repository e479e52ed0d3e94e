/**
 * Checks of arguments. Each function returns a value in the one form that the worker takes, or
 * throws an `invalid-argument` that names the argument. Objects are read defensively: a getter or a
 * Proxy can throw anything. Bytes are copied, so that the caller can change or transfer its own
 * while the work waits.
 */
import { asRandomXError, invalidArgument, type RandomXError } from "./errors.js";
import { HASH_SIZE, MAX_STATE } from "./sizes.js";
import type { Bytes, Progress, Source, Version } from "./types.js";

/** A check of an argument. Messages begin with its name. */
export type Check<T> = (name: string, value: unknown) => T;

/** The checked fields of an object. */
type Fields<C extends Record<string, Check<unknown>>> = {
  [Field in keyof C]: ReturnType<C[Field]>;
};

/** The limit for the bytes of a key or an input: 1 MiB. */
export const MAX_BYTES = 1 << 20;

/** The most bytes of a hashing blob of Monero. */
export const MAX_HASHING_BLOB = 92;

const DIFFICULTY_DIGITS = 78;

/**
 * The prototype of all typed arrays. Its getters work for arrays of other frames and without a
 * prototype, and run no code of the array.
 */
const TYPED_ARRAY = Object.getPrototypeOf(Uint8Array.prototype) as object;

/** Returns a copy of at most `MAX_BYTES` bytes. */
export function bytes(name: string, value: unknown): Uint8Array<ArrayBuffer> {
  size(name, value);
  return typeof value === "string" ? fromHex(name, value) : copied(name, value);
}

/** Returns a copy of exactly `HASH_SIZE` bytes. */
export function hash(name: string, value: unknown): Uint8Array<ArrayBuffer> {
  const copy = bytes(name, value);
  if (copy.length !== HASH_SIZE) {
    throw wrong(name, "32 bytes (64 hex digits)", `${copy.length} bytes`);
  }
  return copy;
}

/**
 * Returns copies of a list of inputs. `admit` receives their number before any is read, and the sum
 * of their bytes before any is copied; it can refuse them. Messages name what is `expected`.
 */
export function byteArrays(
  name: string,
  value: unknown,
  admit: (inputs: number, bytes: number) => void = () => undefined,
  expected = "an array",
): Uint8Array<ArrayBuffer>[] {
  const inputs = reading(name, () => {
    if (!Array.isArray(value)) throw wrong(name, expected, kind(value));
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

/** Reads an array of at most so many objects, and checks their fields. */
export function list<C extends Record<string, Check<unknown>>>(
  name: string,
  value: unknown,
  most: number,
  checks: C,
): Fields<C>[] {
  const entries = reading(name, () => {
    if (!Array.isArray(value)) throw wrong(name, "an array", kind(value));
    const { length } = value;
    if (length > most) throw wrong(name, `at most ${most} entries`, String(length));
    return Array.from({ length }, (_, index): unknown => value[index]);
  });
  return entries.map((entry, index) => {
    const entryName = `${name}[${index}]`;
    return fields(entryName, entry, checks, `${entryName}.`);
  });
}

/** Returns whether inputs arrive one by one. Bytes and strings are iterable too, but are no inputs. */
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

/** Returns a check that accepts `undefined` too. */
export function optional<T>(check: Check<T>): Check<T | undefined> {
  return (name, value) => (value === undefined ? undefined : check(name, value));
}

/** Returns the value unchecked. */
export function any(_name: string, value: unknown): unknown {
  return value;
}

/** Returns a copy of a stored state, of at most `MAX_STATE` bytes. */
export function state(name: string, value: unknown): Uint8Array {
  if (Reflect.get(TYPED_ARRAY, Symbol.toStringTag, value) !== "Uint8Array") {
    throw wrong(name, "a Uint8Array", kind(value));
  }
  const length = Number(Reflect.get(TYPED_ARRAY, "length", value));
  if (length > MAX_STATE) throw wrong(name, `at most ${MAX_STATE} bytes`, `${length} bytes`);
  return copied(name, value);
}

/** Returns a version of RandomX, which is 1 by default. */
export function version(name: string, value: unknown = 1): Version {
  if (value !== 1 && value !== 2) {
    throw wrong(name, "1 or 2", shown(value));
  }
  return value;
}

/** Returns a difficulty of at most so many bits as decimal digits. */
export function difficulty(name: string, value: unknown, bits = 256): string {
  const whole = wholeDifficulty(name, value, bits);
  if (whole < 1n) throw wrong(name, "at least 1", String(whole));
  if (whole >> BigInt(bits)) throw invalidArgument(name, `expected less than 2^${bits}`);
  return whole.toString();
}

/** Returns a difficulty or the work of a chain, below 2^128. */
export function chainDifficulty(name: string, value: unknown): string {
  return difficulty(name, value, 128);
}

/** Returns a whole number from 1 to a limit. */
export function count(name: string, value: unknown, limit: number): number {
  if (typeof value !== "number" || !Number.isInteger(value) || value < 1 || value > limit) {
    throw wrong(name, `a whole number from 1 to ${limit}`, shown(value));
  }
  return value;
}

/** Returns true or false. */
export function flag(name: string, value: unknown): boolean {
  if (typeof value !== "boolean") throw invalidArgument(name, "expected true or false");
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
    throw wrong(name, `one of ${values.join(", ")}`, shown(value));
  }
  return found;
}

/** Returns a block height. */
export function height(name: string, value: unknown): number {
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0) {
    throw wrong(name, "a whole number from 0 to 2^53 - 1", shown(value));
  }
  return value;
}

/** Returns an absolute address, or `undefined` for `undefined`. */
export function address(name: string, value: unknown): string | undefined {
  if (value === undefined) return undefined;
  const { document, location } = globalThis as { document?: Document; location?: Location };
  return reading(name, () => {
    if (typeof value !== "string" && !(value instanceof URL)) {
      throw wrong(name, "a URL or a string", kind(value));
    }
    const text = String(value);
    try {
      return new URL(text, document?.baseURI ?? location?.href).href;
    } catch {
      throw wrong(name, "an address", JSON.stringify(text.slice(0, 200)));
    }
  });
}

/** Returns the address of an HTTP server, without a query. */
export function server(name: string, value: unknown): URL {
  let address: URL;
  try {
    address = new URL(value instanceof URL ? value.href : String(value));
  } catch {
    throw invalidArgument(name, "expected an address such as http://127.0.0.1:18081");
  }
  if (address.protocol !== "http:" && address.protocol !== "https:") {
    throw invalidArgument(name, `expected http: or https:, got ${address.protocol}`);
  }
  if (address.username || address.password) {
    throw invalidArgument(name, "expected no login in the address: give a fetch that logs in");
  }
  address.search = "";
  address.hash = "";
  return address;
}

/** Returns a function that sends requests, or `undefined` for `undefined`. */
export function fetcher(name: string, value: unknown): typeof globalThis.fetch | undefined {
  if (value === undefined || typeof value === "function") {
    return value as typeof globalThis.fetch | undefined;
  }
  throw wrong(name, "a function", kind(value));
}

/**
 * Reads fields of an object, each once, and checks them. Messages name a field with the prefix, such as
 * `checkpoint.`.
 */
export function fields<C extends Record<string, Check<unknown>>>(
  name: string,
  value: unknown,
  checks: C,
  prefix = "",
): Fields<C> {
  if (typeof value !== "object" || value === null) throw wrong(name, "an object", kind(value));
  const given = value as Record<string, unknown>;
  const names = Object.keys(checks);
  const read = reading(name, () => names.map((field) => given[field]));
  const checked: Record<string, unknown> = {};
  for (const [index, field] of names.entries()) {
    checked[field] = checks[field]?.(prefix + field, read[index]);
  }
  return checked as Fields<C>;
}

/** Reads all of an object's own fields. */
export function entries(name: string, value: unknown): [string, unknown][] {
  fields(name, value, {});
  return reading(name, () => Object.entries(value as object));
}

/** Returns an `AbortSignal`, or `undefined` for `undefined`. */
export function signal(name: string, value: unknown): AbortSignal | undefined {
  if (value === undefined) return undefined;
  try {
    Reflect.get(AbortSignal.prototype, "aborted", value);
    return value as AbortSignal;
  } catch {
    throw wrong(name, "an AbortSignal", kind(value));
  }
}

/** Returns a function that receives progress, or `undefined` for `undefined`. */
export function progress(name: string, value: unknown): ((now: Progress) => void) | undefined {
  if (value === undefined || typeof value === "function") return value as (now: Progress) => void;
  throw wrong(name, "a function", kind(value));
}

/** Reads an argument by code that the caller may have written. Only `RandomXError`s leave it. */
export function reading<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (thrown) {
    const cause = asRandomXError(thrown);
    if (cause === thrown) throw cause;
    throw invalidArgument(name, `it cannot be read: ${cause.message}`);
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
    throw wrong(name, "a Uint8Array or a string of hex", kind(value));
  }
  if (length > MAX_BYTES) {
    throw wrong(name, `at most ${MAX_BYTES} bytes`, `${length} bytes`);
  }
  return length;
}

function copied(name: string, value: unknown): Uint8Array<ArrayBuffer> {
  try {
    return new Uint8Array(value as Uint8Array);
  } catch {
    throw wrong(name, "bytes", "a Uint8Array whose buffer is detached or too short");
  }
}

function fromHex(name: string, text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(Math.floor(text.length / 2));
  let found = 0;
  for (let index = 0; index < bytes.length; index += 1) {
    const digits = 16 * digit(text, 2 * index) + digit(text, 2 * index + 1);
    found |= digits;
    bytes[index] = digits;
  }
  if (found >= 0 && text.length % 2 === 0) return bytes;
  const stranger = /[^0-9a-f]/iu.exec(text);
  if (stranger) {
    const got = `${JSON.stringify(stranger[0])} at position ${stranger.index}`;
    throw wrong(name, "hex digits (0-9, a-f)", got);
  }
  throw wrong(name, "an even number of hex digits", String(text.length));
}

/** The value of each hex character by its code, and of other codes a number that stays negative in sums. */
const DIGITS = Int16Array.from({ length: 128 }, (_, code) => {
  const value = Number.parseInt(String.fromCharCode(code), 16);
  return Number.isNaN(value) ? -1024 : value;
});

function digit(text: string, at: number): number {
  return DIGITS[text.charCodeAt(at)] ?? -1024;
}

function wholeDifficulty(name: string, value: unknown, bits: number): bigint {
  switch (typeof value) {
    case "bigint":
      return value;
    case "number":
      if (Number.isSafeInteger(value)) return BigInt(value);
      if (Number.isInteger(value)) {
        throw wrong(name, "a bigint or a string for a number over 2^53 - 1", String(value));
      }
      throw wrong(name, "a whole number", String(value));
    case "string":
      if (!/^[0-9]+$/u.test(value)) {
        throw invalidArgument(name, "expected decimal digits only");
      }
      if (value.length > DIFFICULTY_DIGITS) {
        throw invalidArgument(name, `expected less than 2^${bits}`);
      }
      return BigInt(value);
    default:
      throw wrong(name, "a bigint, a number or a string of decimal digits", kind(value));
  }
}

function wrong(name: string, expected: string, got: string): RandomXError {
  return invalidArgument(name, `expected ${expected}, got ${got}`);
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
