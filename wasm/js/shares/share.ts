/** Shares: what a pool asks about, and how arguments are read. */
import { invalidArgument } from "../errors.js";
import { patch } from "../inputs.js";
import type { Input, Patch } from "../protocol.js";
import { PRIORITIES, type Bytes, type Difficulty, type Priority, type Version } from "../types.js";
import * as validate from "../validate.js";
import { fromDifficulty, fromTarget } from "./target.js";
import { ShareTemplate } from "./template.js";

/** A share that a miner submits. It has either `blob` or `block`, and either `target` or `difficulty`. */
export interface Share {
  /** The seed hash of the job, which is the key. At most 1 MiB. */
  seed: Bytes;
  /** The hashing blob, which the miner got with the job. */
  blob?: Bytes | ShareTemplate | undefined;
  /** The block template, as `get_block_template` returns it. Its hashing blob is computed. */
  block?: Bytes | ShareTemplate | undefined;
  /**
   * The nonce that the miner found, which takes the 4 bytes at offset 39 of a hashing blob and of a block. A
   * number is written as Monero does, in little-endian order. Bytes and hex are written as they are.
   */
  nonce?: number | Bytes | undefined;
  /** Other bytes that differ from the template, such as extra nonces: at most 16, inside. */
  patches?: readonly SharePatch[] | undefined;
  /**
   * The target of the job. In hex or bytes, in little-endian order as in Stratum:
   *
   * - 4 bytes: `t` stands for the 64 bits `(2^64 - 1) / ((2^32 - 1) / t)`, with whole quotients;
   * - 8 bytes: the last 8 bytes of the hash, as a little-endian number, must be below the target. This and
   *   the one above are what XMRig does (`Job::setTarget`, `CpuWorker`);
   * - 32 bytes, or a `bigint`: the hash, as a little-endian number, must not be above the target.
   */
  target?: bigint | Bytes | undefined;
  /** The difficulty: the hash, as a little-endian number, times this must be below 2^256 (Monero). */
  difficulty?: Difficulty | undefined;
  /** The hash that the miner claims, 32 bytes. */
  hash?: Bytes | undefined;
  /** RandomX 1 (the default, `rx/0`) or 2 (`rx/2`). */
  version?: Version | undefined;
  /**
   * Milliseconds after which the verdict is of no use, 1 to 2^31 - 1. A fill that an expired share began goes on,
   * for later shares.
   */
  timeout?: number | undefined;
  /** Shares of a higher priority go first; `normal` is the default, as of all other calls. */
  priority?: Priority | undefined;
}

/** Bytes that differ from a template. */
export interface SharePatch {
  /** The position of the first byte. */
  offset: number;
  /** The bytes. */
  bytes: Bytes;
}

/** @internal A checked share. */
export interface CheckedShare {
  key: Uint8Array;
  input: Input;
  version: Version;
  priority: Priority;
  /** The greatest hash that meets the target. */
  most: bigint;
  claimed: Uint8Array | undefined;
  timeout: number | undefined;
}

/** The offset and the length of the nonce: one byte of each version, 5 of the timestamp, 32 of the last id. */
const NONCE = { offset: 39, length: 4 };

const MAX_PATCHES = 16;

/** The longest time that timers can wait. */
const MAX_TIMEOUT = 0x7fff_ffff;

const PATCH = { offset: validate.height, bytes: validate.bytes };

const SHARE = {
  seed: validate.bytes,
  blob: validate.optional(source),
  block: validate.optional(source),
  nonce: validate.optional(nonce),
  patches: (name: string, value: unknown = []) => validate.list(name, value, MAX_PATCHES, PATCH),
  target: validate.optional(fromTarget),
  difficulty: validate.optional(fromDifficulty),
  hash: validate.optional(validate.hash),
  version: validate.version,
  timeout: validate.optional((name, value) => validate.count(name, value, MAX_TIMEOUT)),
  priority: (name: string, value: unknown = "normal") => validate.oneOf(name, value, PRIORITIES),
};

/** @internal Checks a share, and copies its bytes, except those of a template. */
export function checkShare(name: string, value: unknown): CheckedShare {
  const share = validate.fields(name, value, SHARE, `${name}.`);
  const { seed: key, nonce: given, version, priority, hash: claimed, timeout } = share;
  const own = one(name, "blob", share.blob, "block", share.block);
  const most = one(name, "target", share.target, "difficulty", share.difficulty);
  const patches: Patch[] = [...share.patches];
  if (given) patches.push({ offset: NONCE.offset, bytes: given });
  const { length } = own.bytes;
  for (const [index, { offset, bytes }] of patches.entries()) {
    if (offset + bytes.length <= length) continue;
    const field = index < share.patches.length ? `patches[${index}]` : "nonce";
    const got = `${bytes.length} bytes at ${offset} of ${length}`;
    throw invalidArgument(`${name}.${field}`, `expected changes inside the blob, got ${got}`);
  }
  const isBlock = share.block !== undefined;
  const { bytes, isTemplate } = own;
  if (!isTemplate) patch(bytes, patches);
  const input = isTemplate ? { bytes, patches, isBlock } : { bytes, isBlock };
  return { key, input, version, priority, most, claimed, timeout };
}

/** Returns the bytes of a blob, which a template has already. */
function source(name: string, value: unknown): { bytes: Uint8Array; isTemplate: boolean } {
  const bytes = ShareTemplate.bytesOf(value);
  return bytes
    ? { bytes, isTemplate: true }
    : { bytes: validate.bytes(name, value), isTemplate: false };
}

function nonce(name: string, value: unknown): Uint8Array {
  if (typeof value === "number") {
    if (!Number.isInteger(value) || value < 0 || value > 0xffff_ffff) {
      throw invalidArgument(name, `expected a whole number from 0 to 2^32 - 1, got ${value}`);
    }
    const bytes = new Uint8Array(NONCE.length);
    new DataView(bytes.buffer).setUint32(0, value, true);
    return bytes;
  }
  const bytes = validate.bytes(name, value);
  if (bytes.length === NONCE.length) return bytes;
  throw invalidArgument(name, `expected 4 bytes, got ${bytes.length} bytes`);
}

/** Returns the one of two fields that is given. */
function one<T>(
  name: string,
  a: string,
  first: T | undefined,
  b: string,
  second: T | undefined,
): T {
  const given = first ?? second;
  if (given !== undefined && (first === undefined || second === undefined)) return given;
  const got = given === undefined ? "none" : "both";
  throw invalidArgument(name, `expected one of ${a} and ${b}, got ${got}`);
}
