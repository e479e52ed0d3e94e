/** What is kept of a chain to go on with it: plain JSON, the same that the command line keeps. */
import type { Result } from "../protocol.js";
import { invalidArgument } from "../errors.js";
import * as validate from "../validate.js";
import { hex } from "./hex.js";

/**
 * A chain up to a block that is believed: what Monero's rules need to judge the blocks after it, some
 * 40 KB of JSON. It is worth as much as the place it is kept in: who can change it chooses the chain.
 */
export interface ChainCheckpoint {
  /** The height of the last block. */
  height: number;
  /** Its id, in hex. */
  id: string;
  /** The chain's work up to it, in decimal digits; absent where it is unknown. */
  work?: string | undefined;
  /**
   * The last 735 blocks, the oldest first; all of them, the genesis block included, while there are
   * fewer. Without so many, difficulties are believed instead of computed until there are enough.
   */
  recent: {
    /** Seconds since 1970. */
    timestamp: number;
    /** The difficulty that was demanded, in decimal digits. */
    difficulty: string;
  }[];
  /** The blocks whose ids are keys of the blocks to come. */
  seeds: { height: number; id: string }[];
}

const MAX_RECENT = 735;
const MAX_SEEDS = 2;
const MAX_DIFFICULTY_DIGITS = 39;
const GENESIS_ID = "418015bb9ae982a1975da7d79277c2705727a56894ba0fb246adaabb1f4632e3";

/** The beginning of Monero's main network, and of every chain of `monerod --regtest`. */
export const MAINNET_GENESIS: Readonly<ChainCheckpoint> = {
  height: 0,
  id: GENESIS_ID,
  work: "1",
  recent: [{ timestamp: 0, difficulty: "1" }],
  seeds: [{ height: 0, id: GENESIS_ID }],
};

type PlainCheckpoint = NonNullable<Result<"chainVerdicts">["checkpoint"]>;

/** A checkpoint that somebody kept, checked field by field. */
export function fromJson(value: unknown): PlainCheckpoint {
  const { height, id, work, recent, seeds } = validate.record("checkpoint", value);
  const blocks = list("checkpoint.recent", recent, MAX_RECENT).map((entry, index) => {
    const name = `checkpoint.recent[${index}]`;
    const { timestamp, difficulty } = validate.record(name, entry);
    return {
      timestamp: validate.height(`${name}.timestamp`, timestamp),
      difficulty: digits(`${name}.difficulty`, difficulty),
    };
  });
  const keys = list("checkpoint.seeds", seeds, MAX_SEEDS).map((entry, index) => {
    const name = `checkpoint.seeds[${index}]`;
    const seed = validate.record(name, entry);
    return {
      height: validate.height(`${name}.height`, seed.height),
      id: validate.hash(`${name}.id`, seed.id),
    };
  });
  return {
    height: validate.height("checkpoint.height", height),
    id: validate.hash("checkpoint.id", id),
    work: work === undefined ? "0" : digits("checkpoint.work", work),
    timestamps: Float64Array.from(blocks, ({ timestamp }) => timestamp),
    difficulties: blocks.map(({ difficulty }) => difficulty),
    seedHeights: Float64Array.from(keys, ({ height }) => height),
    seedIds: keys.map(({ id }) => id),
  };
}

/** A checkpoint to be kept. */
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

function list(name: string, value: unknown, most: number): unknown[] {
  if (Array.isArray(value) && value.length <= most) return value as unknown[];
  throw invalidArgument(name, `expected a list of at most ${most}`);
}

function digits(name: string, value: unknown): string {
  if (typeof value === "string" && value.length <= MAX_DIFFICULTY_DIGITS && /^\d+$/u.test(value)) {
    return value;
  }
  throw invalidArgument(name, "expected a string of decimal digits, below 2^128");
}
