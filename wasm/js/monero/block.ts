/** The verification of one block: its claims and its proof of work. */
import { invalidArgument } from "../errors.js";
import { bytesIn } from "../inputs.js";
import type { Hashing } from "../job.js";
import type { BlockArgs, Result } from "../protocol.js";
import { equal } from "../bytes.js";
import type { Scheduler } from "../scheduler.js";
import type { Bytes, Difficulty, Follow, Network } from "../types.js";
import * as validate from "../validate.js";

/** A block, and the claims about it. */
export interface BlockToVerify {
  /**
   * The block blob, as a node's `get_block` returns it, at most 1 MiB. The hashing blob, the id and
   * the height are read from it.
   */
  block?: Bytes | undefined;
  /**
   * The hashing blob, at most 1 MiB. Monero's are 76 or 77 bytes. Either this or `block` is needed.
   * With both, this one must be the block's.
   */
  hashingBlob?: Bytes | undefined;
  /** The id of the block at the seed height, 32 bytes: the key. */
  seedHash: Bytes;
  /** The difficulty that the network demanded of the block. */
  difficulty: Difficulty;
  /** The id that the block should have, 32 bytes. */
  expectedId?: Bytes | undefined;
  /** The height that the block should have. */
  height?: number | undefined;
  /** The network, whose versions the block must have. `mainnet` by default. */
  network?: Network | undefined;
}

/** The name of a check, in the order in which the checks are made. The names are stable. */
export type CheckName =
  | "block"
  | "hashing-blob"
  | "version"
  | "vote"
  | "height"
  | "miner-transaction"
  | "transactions"
  | "id"
  | "previous-id"
  | "timestamp-median"
  | "timestamp-future"
  | "seed-hash"
  | "difficulty"
  | "proof-of-work";

/** One check. */
export interface Check {
  name: CheckName;
  /** `null` if the check was not made: there was nothing to compare with, or it was not asked for. */
  passed: boolean | null;
  /** The values that were compared, in words. */
  detail: string;
}

/**
 * The judgement of a block. `valid`: all checks passed that could be made, the proof of work among
 * them. `unproven`: no check failed, but the proof of work was not checked. `update-needed`: the
 * block's version is newer than this release knows or than it expects at the height, or older than
 * RandomX. `invalid`: a check failed.
 */
export type BlockStatus = "valid" | "unproven" | "update-needed" | "invalid";

/** The result of {@link RandomX.verifyBlock}. */
export interface Verdict {
  /** The judgement, which is never `unproven`. */
  status: BlockStatus;
  /** Whether the proof of work and the version were checked and passed, and no other check failed. */
  valid: boolean;
  /** The block's RandomX hash, 32 bytes, or `null` if the block could not be read. */
  hash: Uint8Array | null;
  /** The block's id, 32 bytes, or `null` if the block could not be read. */
  id: Uint8Array | null;
  /** The height in the block, or else the height that was given. `null` without both, or above 2^53 - 1. */
  height: number | null;
  /** The given difficulty, which the hash was compared with. */
  difficulty: bigint;
  /** The ids of the transactions, the miner's first. Empty for a hashing blob. */
  transactionIds: Uint8Array[];
  /** The checks from `block` to `id`, and `proof-of-work`. */
  checks: Check[];
}

const NETWORKS = ["mainnet", "stagenet", "testnet", "regtest"] as const;

/** @internal Verifies one block. */
export async function verifyBlock(
  scheduler: Scheduler,
  given: unknown,
  follow: Follow,
): Promise<Verdict> {
  const { args, key, difficulty } = blockArgs(given);
  const { signal } = follow;
  // The first request can be refused. The later ones of a call that has begun wait for room in the queue.
  const later = <T>(request: () => Promise<T>): Promise<T> => scheduler.whenRoom(signal, request);
  const hashed = async (bytes: Uint8Array): Promise<Uint8Array> => {
    const request = { key, version: 1, inputs: [{ bytes }] } as const;
    const [hash] = await later(() => scheduler.hash(request, follow));
    return hash;
  };
  scheduler.check(1, signal, key.length + bytesIn(args));
  // A hashing blob needs no reading first: the blobs of calls made together are hashed together.
  if (args.hashingBlob && args.hashingBlob.length <= validate.MAX_HASHING_BLOB && !args.block) {
    scheduler.loadRules();
    const hash = await hashed(args.hashingBlob);
    const claims = { ...args, proof: { hash, difficulty } };
    const found = await later(() => scheduler.ask("examine", claims, signal));
    return found.hashingBlob ? verdict(found, hash, difficulty) : unread(found, difficulty);
  }
  const hasRoom = canFillNow(scheduler, key);
  const reading = scheduler.ask("examine", { ...args, proof: undefined }, signal);
  const fill = hasRoom ? beginFill(scheduler, key, follow) : undefined;
  try {
    const found = await reading;
    if (!found.hashingBlob) return unread(found, difficulty);
    const hash = await hashed(found.hashingBlob);
    const proof = { hash, difficulty };
    found.checks.push(await later(() => scheduler.ask("proofOfWork", proof, signal)));
    return verdict(found, hash, difficulty);
  } finally {
    if (fill) {
      fill.end();
      scheduler.drop(fill);
    }
  }
}

/**
 * Returns whether a key's cache can be filled before it is known that the block can be read: nothing else
 * waits, and no other key's cache has to make room.
 */
function canFillNow(scheduler: Scheduler, key: Uint8Array): boolean {
  const { queue, slots } = scheduler.stats;
  const isEmpty = slots.length < scheduler.configuration.slots;
  return queue.requests === 0 && isEmpty && !slots.some((slot) => equal(slot.key, key));
}

/** Starts to fill a key's cache while another worker reads the block. */
function beginFill(scheduler: Scheduler, key: Uint8Array, { onProgress }: Follow): Hashing {
  // The request for the hash reports errors and completion.
  const ignored = { resolve: () => undefined, reject: () => undefined };
  const request = { key, version: 1, inputs: [], isUrgent: true } as const;
  return scheduler.begin(request, ignored, (progress) => {
    if (progress.done < 1) onProgress?.(progress);
  });
}

/** Returns the network of a block or a chain, which is `mainnet` by default. */
export function networkOf(name: string, network: unknown = "mainnet"): Network {
  return validate.oneOf(name, network, NETWORKS);
}

/** Returns whether checks make a block valid: the two that matter most must have been made. */
export function isValid(checks: readonly Omit<Check, "detail">[]): boolean {
  const passed = (name: CheckName): boolean =>
    checks.some((check) => check.name === name && check.passed === true);
  return (
    checks.every((check) => check.passed !== false) && passed("version") && passed("proof-of-work")
  );
}

function blockArgs(given: unknown): { args: BlockArgs; key: Uint8Array; difficulty: string } {
  const { seedHash, difficulty, expectedId, ...block } = validate.fields("block", given, {
    block: validate.optional(validate.bytes),
    hashingBlob: validate.optional(validate.bytes),
    seedHash: validate.hash,
    difficulty: validate.difficulty,
    expectedId: validate.optional(validate.hash),
    height: validate.optional(validate.height),
    network: networkOf,
  });
  if (!block.block && !block.hashingBlob) {
    throw invalidArgument("hashingBlob", "expected this or block, got neither");
  }
  return { args: { ...block, id: expectedId }, key: seedHash, difficulty };
}

/** Returns the verdict on a block that could not be read. */
function unread(found: Result<"examine">, difficulty: string): Verdict {
  const detail = "the block could not be read";
  found.checks.push({ name: "proof-of-work", passed: null, detail });
  return verdict(found, null, difficulty);
}

function verdict(found: Result<"examine">, hash: Uint8Array | null, difficulty: string): Verdict {
  const { id, height, transactionIds } = found;
  const checks = found.checks as Check[];
  const valid = isValid(checks);
  const proven = valid ? "valid" : "invalid";
  const status = found.status === "unproven" ? proven : (found.status as BlockStatus);
  return {
    status,
    valid,
    hash,
    id,
    height,
    difficulty: BigInt(difficulty),
    transactionIds,
    checks,
  };
}
