/** One block: whether it is what it is said to be, and its proof of work is done. */
import { invalidArgument } from "../errors.js";
import type { Follow } from "../job.js";
import type { Pool } from "../pool.js";
import type { BlockArgs, Proof, Result } from "../protocol.js";
import * as validate from "../validate.js";
import type { Bytes, Difficulty, Network } from "../validate.js";

/** A block, and what is said about it. */
export interface BlockToVerify {
  /**
   * The block blob, as a node's `get_block` gives it, at most 1 MiB. What is hashed, the id and the
   * height are read from it.
   */
  block?: Bytes | undefined;
  /**
   * The hashing blob, at most 1 MiB; Monero's are 76 or 77 bytes. One of the two is needed; of both,
   * this one is held against the other.
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
  /** The network whose versions the block must have; `mainnet` by default. */
  network?: Network | undefined;
}

/** What a check looks at; in the order in which they are made. The names stay the same. */
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

/** One thing that was looked at. */
export interface Check {
  name: CheckName;
  /** `null` where there was nothing to compare with, or it was not asked for. */
  passed: boolean | null;
  /** What was compared, in words. */
  detail: string;
}

/**
 * The judgement of a block: `valid` requires that its proof of work was checked; `unproven` blocks
 * broke no rule, but their proof of work was not checked; `update-needed` ones have a version that
 * this release does not know.
 */
export type BlockStatus = "valid" | "unproven" | "update-needed" | "invalid";

/** The answer of {@link RandomX.verifyBlock}. */
export interface Verdict {
  /** Whether no check failed, and the proof of work was checked. */
  valid: boolean;
  /** The block's RandomX hash, 32 bytes, if the block could be read. */
  hash: Uint8Array | null;
  /** The block's id, 32 bytes, if the block could be read. */
  id: Uint8Array | null;
  /** The height that the block says, or else the one that was given. */
  height: number | null;
  /** What was looked at: `block` to `id`, and `proof-of-work`. */
  checks: Check[];
}

const NETWORKS = ["mainnet", "stagenet", "testnet", "regtest"] as const;

/** Verifies one block by a pool. */
export async function verifyBlock(pool: Pool, given: unknown, follow: Follow): Promise<Verdict> {
  const block = validate.record("block", given);
  const args = blockArgs(block);
  const key = validate.hash("seedHash", block.seedHash);
  const difficulty = validate.difficulty("difficulty", block.difficulty);
  const hashed = async (bytes: Uint8Array): Promise<Uint8Array> => {
    const request = { key, version: 1, inputs: [{ bytes }] } as const;
    const [{ hash }] = await pool.hash(request, follow);
    return hash;
  };
  const examine = async (proof: Proof | undefined): Promise<Result<"examine">> =>
    pool.ask("examine", { ...args, proof }, follow.signal);
  // A call that is refused starts nothing.
  pool.check(1, follow.signal);
  pool.loadRules();
  // A hashing blob is hashed at once, together with those of other calls.
  if (args.hashingBlob && !args.block) {
    const hash = await hashed(args.hashingBlob);
    return verdict(await examine({ hash, difficulty }), hash);
  }
  const found = await examine(undefined);
  if (!found.hashingBlob) {
    const detail = "the block could not be read";
    found.checks.push({ name: "proof-of-work", passed: null, detail });
    return verdict(found, null);
  }
  const hash = await hashed(found.hashingBlob);
  return verdict(await examine({ hash, difficulty }), hash);
}

/** The network of a block or a chain. */
export function networkOf(network: unknown): Network {
  return validate.oneOf("network", network ?? "mainnet", NETWORKS);
}

/** The part of a block that is looked at by itself. */
function blockArgs(block: Record<string, unknown>): BlockArgs {
  const { block: whole, hashingBlob, expectedId, height } = block;
  if (whole === undefined && hashingBlob === undefined) {
    throw invalidArgument("hashingBlob", "expected this one or block, got neither");
  }
  return {
    block: whole === undefined ? whole : validate.bytes("block", whole),
    hashingBlob:
      hashingBlob === undefined ? hashingBlob : validate.bytes("hashingBlob", hashingBlob),
    id: expectedId === undefined ? expectedId : validate.hash("expectedId", expectedId),
    height: height === undefined ? height : validate.height("height", height),
    network: networkOf(block.network),
  };
}

function verdict(found: Result<"examine">, hash: Uint8Array | null): Verdict {
  const { id, height } = found;
  const checks = found.checks as Check[];
  const proven = checks.some(({ name, passed }) => name === "proof-of-work" && passed === true);
  const valid = proven && checks.every(({ passed }) => passed !== false);
  return { valid, hash, id, height, checks };
}
