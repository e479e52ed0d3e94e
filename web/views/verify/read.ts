/** Reads pasted and dropped blocks: hex, raw bytes, a node's answer, or a result of this page. */
import { bytes as count, hex } from "../../shell/words.js";
import { HASHING_BLOB } from "./subject.js";

/** Texts for the form's fields, which check them. */
export interface Found {
  block?: string;
  seedHash?: string;
  difficulty?: string;
  expectedId?: string;
  height?: string;
}

/** The size of the largest file or text: a block of 1 MiB in hex, with JSON around it. */
const MOST = 4 << 20;

/** The names of each field in answers to `get_block`, in the tests' vectors, and in this page's results. */
const NAMES: Record<keyof Found, readonly string[]> = {
  block: ["block", "blob", "block_blob", "hashingBlob", "hashing_blob"],
  seedHash: ["seedHash", "seed_hash"],
  difficulty: ["wide_difficulty", "difficulty"],
  expectedId: ["expectedId", "hash", "id"],
  height: ["height"],
};

/** Nested objects of a node's answer, whose values count more than those of the outer ones. */
const INNER = ["result", "block_header"];

/** The most levels of objects that are read. A node's answer has three. */
const LEVELS = 4;

/** The latest major version of a block that a file in bytes may begin with. */
const LATEST_VERSION = 31;

/** Reads a file. */
export async function readFile(file: Blob): Promise<Found> {
  if (file.size > MOST) {
    throw new Error(`expected at most ${MOST} bytes, got ${file.size} bytes`);
  }
  const bytes = new Uint8Array(await file.arrayBuffer());
  const text = asText(bytes);
  if (text !== undefined) return readText(text);
  const [version = 0] = bytes;
  if (version < 1 || version > LATEST_VERSION || bytes.length < HASHING_BLOB.least) {
    const start = hex(bytes.subarray(0, 4));
    throw new Error(
      `expected a file with a block, as JSON, hex or bytes; this one has ${count(bytes.length)} and begins with 0x${start}`,
    );
  }
  return { block: hex(bytes) };
}

/** Reads a text: JSON or hex. */
export function readText(text: string): Found {
  if (text.length > MOST) {
    throw new Error(`expected at most ${MOST} characters, got ${text.length} characters`);
  }
  const trimmed = text.trim();
  return trimmed.startsWith("{") ? readJson(trimmed) : { block: trimmed };
}

function readJson(text: string): Found {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error("expected JSON, since it begins with {");
  }
  const objects = unfold(value, LEVELS);
  const found: Found = {};
  for (const [field, names] of Object.entries(NAMES) as [keyof Found, string[]][]) {
    const [value] = names.flatMap((name) => objects.flatMap((object) => plain(object[name])));
    if (value !== undefined) found[field] = field === "difficulty" ? decimal(value) : value;
  }
  if (found.block === undefined) throw new Error("expected a block or a hashing blob in the JSON");
  return found;
}

/**
 * Returns an object and those nested in it, the innermost first. Of this page's results it returns only the
 * claims: the fields around them are what the page found, and `hash` is the RandomX hash there.
 */
function unfold(value: unknown, levels: number): Record<string, unknown>[] {
  if (typeof value !== "object" || value === null || levels === 0) return [];
  const object = value as Record<string, unknown>;
  if (object.given !== undefined) return unfold(object.given, levels - 1);
  return [...INNER.flatMap((name) => unfold(object[name], levels - 1)), object];
}

function plain(value: unknown): string[] {
  return typeof value === "string" || typeof value === "number" ? [String(value)] : [];
}

/** Converts a difficulty in hex, in which nodes send large ones. */
function decimal(text: string): string {
  return /^0x[0-9a-f]{1,64}$/u.test(text) ? BigInt(text).toString() : text;
}

/** Returns a file as text. Returns nothing for a block in bytes, which begins with its version. */
function asText(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return /^[\s{"0-9a-f]/iu.test(text) ? text : undefined;
  } catch {
    return undefined;
  }
}
