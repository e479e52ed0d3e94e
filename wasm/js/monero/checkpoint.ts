/** Checkpoints: the part of a chain that later blocks are verified against, as plain JSON. */
import { invalidArgument } from "../errors.js";
import type { Result } from "../protocol.js";
import * as validate from "../validate.js";
import { hex } from "./hex.js";

/**
 * A chain up to a trusted block: all that Monero's rules need to verify the blocks after it, some
 * 40 KB of JSON. The command line uses the same format. Store it where nobody else can write:
 * whoever changes it chooses the chain.
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
const MAX_DIFFICULTY_DIGITS = 39;
const GENESIS_ID = "418015bb9ae982a1975da7d79277c2705727a56894ba0fb246adaabb1f4632e3";

/** The genesis block of Monero's main network, and of every chain of `monerod --regtest`. */
export const MAINNET_GENESIS: Readonly<ChainCheckpoint> = {
  height: 0,
  id: GENESIS_ID,
  work: "1",
  recent: [{ timestamp: 0, difficulty: "1" }],
  seeds: [{ height: 0, id: GENESIS_ID }],
};

type PlainCheckpoint = NonNullable<Result<"chainVerdicts">["checkpoint"]>;

/** Checks a stored checkpoint field by field. */
export function fromJson(value: unknown): PlainCheckpoint {
  const given = validate.fields("checkpoint", value, "height", "id", "work", "recent", "seeds");
  const recent = validate.list("checkpoint.recent", given.recent, MAX_RECENT);
  const blocks = recent.map((entry, index) => {
    const name = `checkpoint.recent[${index}]`;
    const { timestamp, difficulty } = validate.fields(name, entry, "timestamp", "difficulty");
    return {
      timestamp: validate.height(`${name}.timestamp`, timestamp),
      difficulty: digits(`${name}.difficulty`, difficulty),
    };
  });
  const seeds = validate.list("checkpoint.seeds", given.seeds, MAX_SEEDS);
  const keys = seeds.map((entry, index) => {
    const name = `checkpoint.seeds[${index}]`;
    const { height, id } = validate.fields(name, entry, "height", "id");
    return {
      height: validate.height(`${name}.height`, height),
      id: validate.hash(`${name}.id`, id),
    };
  });
  return {
    height: validate.height("checkpoint.height", given.height),
    id: validate.hash("checkpoint.id", given.id),
    work: given.work === undefined ? "0" : digits("checkpoint.work", given.work),
    timestamps: Float64Array.from(blocks, ({ timestamp }) => timestamp),
    difficulties: blocks.map(({ difficulty }) => difficulty),
    seedHeights: Float64Array.from(keys, ({ height }) => height),
    seedIds: keys.map(({ id }) => id),
  };
}

/** Returns a checkpoint to store. */
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
  if (typeof value === "string" && value.length <= MAX_DIFFICULTY_DIGITS && /^\d+$/u.test(value)) {
    return value;
  }
  throw invalidArgument(name, "expected a string of decimal digits, below 2^128");
}
