/** What people paste and drop: bytes in hex, bytes as they are, a node's answer, a result of this page. */
import { hex } from "../../shell/words.js";

/** What was found, to be put into the fields, which say what is wrong with it. */
export interface Found {
  block?: string;
  seedHash?: string;
  difficulty?: string;
  expectedId?: string;
  height?: string;
}

/** The longest file that is read: a block of 1 MiB in hex, and JSON around it. */
export const MAX_FILE = 4 << 20;

/** The names under which each is told: by `get_block`, by the tests' vectors, by this page. */
const NAMES: Record<keyof Found, readonly string[]> = {
  block: ["block", "blob", "block_blob", "hashingBlob", "hashing_blob"],
  seedHash: ["seedHash", "seed_hash"],
  difficulty: ["wide_difficulty", "difficulty"],
  expectedId: ["expectedId", "hash", "id"],
  height: ["height"],
};

/** Objects that hold others of these: the outer ones' own values count less. */
const INNER = ["result", "block_header", "given"];

/** Reads a file. */
export async function readFile(file: Blob): Promise<Found> {
  if (file.size > MAX_FILE) {
    throw new Error(`expected at most ${MAX_FILE} bytes, got ${file.size} bytes`);
  }
  const bytes = new Uint8Array(await file.arrayBuffer());
  const text = asText(bytes);
  return text === undefined ? { block: hex(bytes) } : readText(text);
}

/** Reads a text: JSON, or else bytes in hex. */
export function readText(text: string): Found {
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
  const objects = [...unfold(value)];
  const found: Found = {};
  for (const [field, names] of Object.entries(NAMES) as [keyof Found, string[]][]) {
    const told = names.flatMap((name) => objects.flatMap((object) => plain(object[name])));
    if (told[0] !== undefined) found[field] = field === "difficulty" ? decimal(told[0]) : told[0];
  }
  if (found.block === undefined) throw new Error("expected a block or a hashing blob in the JSON");
  return found;
}

/** An object and those inside it, the innermost first. */
function* unfold(value: unknown): Generator<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return;
  const object = value as Record<string, unknown>;
  for (const name of INNER) yield* unfold(object[name]);
  yield object;
}

function plain(value: unknown): string[] {
  return typeof value === "string" || typeof value === "number" ? [String(value)] : [];
}

/** Nodes tell difficulties above 2^64 in hex. */
function decimal(text: string): string {
  return /^0x[0-9a-f]{1,64}$/u.test(text) ? BigInt(text).toString() : text;
}

/** A file as text, if it is one: blocks begin with their version, and hold hashes. */
function asText(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return /^[\s{"0-9a-f]/iu.test(text) ? text : undefined;
  } catch {
    return undefined;
  }
}
