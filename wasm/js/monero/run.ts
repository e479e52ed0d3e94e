/** What the verification of a chain and the module that judges its blocks share. */
import type { ChainArgs } from "../protocol.js";
import type { BlockStatus, Check } from "./block.js";

/** The verdict on a block of a chain. */
export interface ChainVerdict {
  /** The judgement. No verdict follows `invalid` or `update-needed`. */
  status: BlockStatus;
  /** Whether the status is `valid`. It is `false` for a block outside the sample. */
  valid: boolean;
  /** The difficulty that the block had to meet, or `null` if an earlier check failed. */
  difficulty: bigint | null;
  /** The chain's work up to this block, or since its start if the checkpoint has none. */
  work: bigint;
  /** Whether the chain began with a checkpoint that is complete and plausible. */
  completeStart: boolean;
  /** The ids of the transactions, the miner's first. Empty for a hashing blob. */
  transactionIds: Uint8Array[];
  /** The height that the block has in the chain. */
  height: number;
  /** Its id, or `null` if the block could not be read. */
  id: Uint8Array | null;
  /** Its RandomX hash, or `null` if it was not computed. */
  hash: Uint8Array | null;
  /** One check for each {@link CheckName}. */
  checks: Check[];
}

/** @internal A verification, as it goes on. The next batch begins at `start`. */
export interface Run extends Pick<
  ChainArgs,
  "start" | "network" | "allowIncomplete" | "fixedDifficulty"
> {
  sample: number;
  now: number | undefined;
}

/** The blocks, as they are read. */
export interface BlockIterator {
  next: () => Promise<IteratorResult<unknown, unknown>> | IteratorResult<unknown, unknown>;
  return?: () => unknown;
}
