/** Checkpoints: the part of a chain that later blocks are verified against, as plain JSON. */
import { invalidArgument } from "../errors.js";
import type { Result } from "../protocol.js";
import * as validate from "../validate.js";
import { hex } from "./hex.js";

/**
 * A chain up to a trusted block: all that Monero's rules need to verify the blocks after it, some
 * 40 KB of JSON. The command line uses the same format. Store it where nobody else can write:
 * anyone who changes it chooses the chain.
 */
export interface ChainCheckpoint {
  /** The height of the last block. */
  height: number;
  /** The id of the last block, in hex. */
  id: string;
  /** The chain's work up to that block, in decimal digits. Absent if it is unknown. */
  work?: string | undefined;
  /**
   * The last 735 blocks, the oldest first, or all blocks from the genesis block if there are fewer.
   * With fewer than needed, difficulties are trusted until there are enough to compute them.
   */
  recent: {
    /** Seconds since 1970. */
    timestamp: number;
    /** The difficulty that was demanded, in decimal digits. */
    difficulty: string;
  }[];
  /** The blocks whose ids are the keys of later blocks. */
  seeds: { height: number; id: string }[];
}

const MAX_RECENT = 735;
const MAX_SEEDS = 2;
const MAX_DIGITS = 39;
const GENESIS_ID = "418015bb9ae982a1975da7d79277c2705727a56894ba0fb246adaabb1f4632e3";

/** The genesis block of Monero's main network, and of every chain of `monerod --regtest`. */
export const MAINNET_GENESIS: Readonly<ChainCheckpoint> = {
  height: 0,
  id: GENESIS_ID,
  work: "1",
  recent: [{ timestamp: 0, difficulty: "1" }],
  seeds: [{ height: 0, id: GENESIS_ID }],
};

/** @internal A checkpoint as workers know it. */
export type PlainCheckpoint = NonNullable<Result<"chainVerdicts">["checkpoint"]>;

/** @internal Checks a stored checkpoint field by field. */
export function fromJson(name: string, value: unknown): PlainCheckpoint {
  const { recent, seeds, ...block } = validate.fields(
    name,
    value,
    {
      height: validate.height,
      id: validate.hash,
      work: (name, work = "0") => digits(name, work),
      recent: (name, blocks) =>
        validate.list(name, blocks, MAX_RECENT, { timestamp: validate.height, difficulty: digits }),
      seeds: (name, blocks) =>
        validate.list(name, blocks, MAX_SEEDS, { height: validate.height, id: validate.hash }),
    },
    `${name}.`,
  );
  return {
    ...block,
    timestamps: Float64Array.from(recent, ({ timestamp }) => timestamp),
    difficulties: recent.map(({ difficulty }) => difficulty),
    seedHeights: Float64Array.from(seeds, ({ height }) => height),
    seedIds: seeds.map(({ id }) => id),
  };
}

/** @internal Returns a checkpoint to store. */
export function toJson(plain: PlainCheckpoint): ChainCheckpoint {
  const { height, id, work, timestamps, difficulties, seedHeights, seedIds } = plain;
  return {
    height,
    id: hex(id),
    ...(work === "0" ? {} : { work }),
    recent: difficulties.map((difficulty, index) => ({
      timestamp: timestamps[index] ?? 0,
      difficulty,
    })),
    seeds: seedIds.map((id, index) => ({ height: seedHeights[index] ?? 0, id: hex(id) })),
  };
}

function digits(name: string, value: unknown): string {
  const isDecimal = typeof value === "string" && /^\d+$/u.test(value);
  if (isDecimal && value.length <= MAX_DIGITS && BigInt(value) >> 128n === 0n) {
    // Without leading zeros: a work of "0" is unknown.
    return BigInt(value).toString();
  }
  throw invalidArgument(name, "expected a string of decimal digits, below 2^128");
}
