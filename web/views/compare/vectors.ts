/** The vectors to compare: those of the tests, or a file of the visitor's. */
import headersUrl from "../../../tests/vectors/mainnet-headers.json?url";
import blocksUrl from "../../../tests/vectors/mainnet-blocks.json?url";
import sharesUrl from "../../../tests/vectors/mainnet-shares.json?url";
import referenceUrl from "../../../tests/vectors/reference-hashes.json?url";
import specificationUrl from "../../../tests/vectors/specification-hashes.json?url";
import { load } from "../../shell/load.js";

/** An input and its expected hash; bytes are in hex. */
export interface Vector {
  /** The vector's set, and its position there, from 1. */
  set: string;
  number: number;
  version: 1 | 2;
  key: string;
  input: string;
  expected: string;
}

/** One of the repository's sets. */
export interface VectorSet {
  name: string;
  label: string;
  load: (signal: AbortSignal) => Promise<Vector[]>;
}

/** The sets, in the order of display. */
export const SETS: readonly VectorSet[] = [
  set("specification", "Known answers of the reference’s own tests", specificationUrl),
  set("reference", "Computed by the reference implementation", referenceUrl),
  set("headers", "Monero blocks of July 2026", headersUrl),
  set("blocks", "Monero blocks of July 2025", blocksUrl),
  set("shares", "Shares of a Monero pool’s miners", sharesUrl),
];

/** The limits of a file, since people look at each row. */
const MOST_BYTES = 1 << 20;
const MOST_VECTORS = 1000;

/** The longest key or input, in hex digits. */
const MOST_DIGITS = 1 << 17;

/** Reads a file of vectors. Throws an error that says what is wrong with it. */
export async function readFile(file: File): Promise<Vector[]> {
  if (file.size > MOST_BYTES)
    throw new Error(`${file.name}: expected at most ${MOST_BYTES} bytes, got ${file.size}`);
  let json: unknown;
  try {
    json = JSON.parse(await file.text());
  } catch (error) {
    throw new Error(`${file.name}: expected JSON: ${String(error)}`, { cause: error });
  }
  return readVectors(file.name, json);
}

function set(name: string, label: string, url: string): VectorSet {
  const vectors = async (signal: AbortSignal): Promise<Vector[]> => {
    return readVectors(name, await (await load(url, signal)).json());
  };
  return { name, label, load: vectors };
}

/** Reads vectors from JSON: a list of hashes, or one of blocks, whose key is their seed hash. */
function readVectors(name: string, json: unknown): Vector[] {
  const file = Object(json) as Record<string, unknown>;
  const list = file.vectors ?? file.blocks ?? file.shares;
  if (!Array.isArray(list)) throw new Error(`${name}: expected a list "vectors"`);
  if (list.length < 1 || list.length > MOST_VECTORS)
    throw new Error(`${name}: expected 1 to ${MOST_VECTORS} vectors, got ${list.length}`);
  return list.map((entry: unknown, index) => {
    const own = Object(entry) as Record<string, unknown>;
    // A file may have a field once for all its vectors.
    const field = (name: string): unknown => own[name] ?? file[name];
    const where = `${name}: vector ${index + 1}`;
    const version = field("version") ?? 1;
    if (version !== 1 && version !== 2) throw new Error(`${where}: expected version 1 or 2`);
    return {
      set: name,
      number: index + 1,
      version,
      key: hex(where, "key", field("key") ?? field("seed_hash"), MOST_DIGITS),
      input: hex(where, "input", field("input") ?? field("hashing_blob"), MOST_DIGITS),
      expected: hash(where, field("hash") ?? field("pow_hash")),
    };
  });
}

/** Whether a text is a hash in hex. */
export function isHash(text: string): boolean {
  return /^[\da-f]{64}$/iu.test(text);
}

function hash(where: string, value: unknown): string {
  if (typeof value === "string" && isHash(value)) return value.toLowerCase();
  throw new Error(`${where}: expected "hash" to be 64 hex digits`);
}

function hex(where: string, field: string, value: unknown, most: number): string {
  const isHex = typeof value === "string" && /^(?:[\da-f]{2})*$/iu.test(value);
  if (isHex && value.length <= most) return value.toLowerCase();
  throw new Error(`${where}: expected "${field}" to be at most ${most} hex digits, two a byte`);
}
