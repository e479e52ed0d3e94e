/** The verification of a chain: each block must follow the rules that the blocks before it set. */
import { endSource } from "../abort.js";
import { asRandomXError, invalidArgument } from "../errors.js";
import type { Scheduler } from "../scheduler.js";
import type { Bytes, Difficulty, Follow, Network } from "../types.js";
import * as validate from "../validate.js";
import { networkOf } from "./block.js";
import { fromJson, toJson, type ChainCheckpoint, type PlainCheckpoint } from "./checkpoint.js";
import type { Judge } from "./judge.js";
import type { BlockIterator, ChainVerdict, Run } from "./run.js";

/**
 * A block of a chain, and the claims about it. Each claim is checked against what the chain already
 * knows. The blocks of `MoneroNode` are accepted too.
 */
export interface ChainBlock {
  /** The block blob, at most 1 MiB. */
  block?: Bytes | undefined;
  /** The hashing blob. Either this or `block` is needed. It does not contain its height. */
  hashingBlob?: Bytes | undefined;
  /** The block's id. */
  id?: Bytes | undefined;
  /** The block's height. */
  height?: number | undefined;
  /** The key. Needed, and trusted, if the chain does not contain the block whose id it is. */
  seedHash?: Bytes | undefined;
  /** The difficulty. Needed, and trusted, if too few blocks are known to compute it. */
  difficulty?: Difficulty | undefined;
}

/** A block as `MoneroNode` returns it. */
interface BlockOfNode {
  blob: Uint8Array;
  header: { id: string; height: number; difficulty: bigint };
  /** The key, which nodes do not send. See {@link ChainBlock.seedHash}. */
  seedHash?: Bytes | undefined;
}

/** Blocks in the order of the chain. */
export type ChainBlocks =
  Iterable<ChainBlock | BlockOfNode> | AsyncIterable<ChainBlock | BlockOfNode>;

/** Where a chain begins, and which proofs of work are checked. */
export interface VerifyChainOptions extends Follow {
  /** The checkpoint before the first block. Either this or `from` is needed. */
  checkpoint?: ChainCheckpoint | undefined;
  /**
   * The height of the first block. Without a checkpoint, claims that only earlier blocks could
   * confirm are trusted until enough blocks are known. The blocks need a `seedHash` and a `difficulty` then;
   * add a `seedHash` to those of `MoneroNode`.
   */
  from?: number | undefined;
  /**
   * Checks one proof of work in `sample`, chosen at random: 1 (the default) checks all. `k` forged
   * blocks go unnoticed with a chance of `(1 - 1/sample)^k`. The last proof of work of
   * each batch is always checked, and all other rules hold for every block. A batch ends early if the next block
   * is late, so more proofs of work are checked for a slow source.
   */
  sample?: number | undefined;
  /**
   * The current time for the check of timestamps, in seconds since 1970, at most 2^53 - 7201. The clock's by default.
   */
  now?: number | undefined;
  /** The difficulty of every block, below 2^128, on a chain of `monerod --fixed-difficulty`. */
  fixedDifficulty?: Difficulty | undefined;
  /** The network of the chain. `mainnet` by default. */
  network?: Network | undefined;
  /** Accepts a checkpoint that is incomplete or implausible. Verdicts report it. */
  allowIncomplete?: boolean | undefined;
  /** Receives phase `cache` for each seed hash in turn, about its own cache. The verdicts show the rest. */
  onProgress?: Follow["onProgress"];
}

const MAX_SAMPLE = 1_000_000;

/** The latest time: timestamps may be two hours later, and stay safe integers. */
const MAX_TIME = Number.MAX_SAFE_INTEGER - 7200;

/** The verdicts on the blocks of a chain, in order. It ends after a block that breaks a rule. */
export class ChainVerification implements AsyncIterableIterator<ChainVerdict> {
  readonly #scheduler: Scheduler;
  readonly #follow: Follow;
  readonly #run: Run;
  readonly #verdicts: AsyncGenerator<ChainVerdict, void, undefined>;

  /** @internal */
  constructor(scheduler: Scheduler, blocks: unknown, options: unknown, follow: Follow) {
    const { checkpoint, from, ...settings } = validate.fields("options", options, {
      checkpoint: validate.optional(fromJson),
      from: validate.optional(validate.height),
      sample: (name, value = 1) => validate.count(name, value, MAX_SAMPLE),
      now: validate.optional(timeOf),
      network: networkOf,
      allowIncomplete: (_, value) => value === true,
      fixedDifficulty: validate.optional(validate.chainDifficulty),
    });
    this.#scheduler = scheduler;
    this.#follow = follow;
    this.#run = { ...settings, start: startOf(checkpoint, from) };
    this.#verdicts = this.#judge(opener(blocks));
  }

  /**
   * The chain up to the last block that passed, to store as JSON. `undefined` before the first block
   * of a chain that began without a checkpoint.
   *
   * Blocks are judged in batches, and the checkpoint advances after a batch's last verdict. A chain
   * that continues from it may repeat some verdicts, but skips none.
   */
  get checkpoint(): ChainCheckpoint | undefined {
    const { start } = this.#run;
    return typeof start === "number" ? undefined : toJson(start);
  }

  async next(): Promise<IteratorResult<ChainVerdict, void>> {
    return this.#verdicts.next();
  }

  async return(): Promise<IteratorResult<ChainVerdict, void>> {
    return this.#verdicts.return();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async *#judge(open: () => BlockIterator): AsyncGenerator<ChainVerdict, void, undefined> {
    const source = open();
    let judge: Judge | undefined;
    try {
      const { Judge } = await import("./judge.js").catch((cause: unknown) => {
        throw asRandomXError(cause);
      });
      judge = new Judge(this.#scheduler, this.#run, this.#follow);
      yield* judge.verdicts(source);
    } finally {
      if (!judge?.hasEnded) endSource(() => source.return?.());
    }
  }
}

/** Returns the function that opens an iterator over blocks. Some, such as a stream's, hold a lock until they end. */
function opener(blocks: unknown): () => BlockIterator {
  return validate.reading("blocks", () => {
    const iterable = blocks as
      Partial<AsyncIterable<unknown> & Iterable<unknown>> | null | undefined;
    const open: (() => BlockIterator) | undefined =
      iterable?.[Symbol.asyncIterator] ?? iterable?.[Symbol.iterator];
    if (!open) throw invalidArgument("blocks", "expected an iterable or an async iterable");
    return () => validate.reading("blocks", () => open.call(iterable));
  });
}

function timeOf(name: string, value: unknown): number {
  const time = validate.height(name, value);
  if (time > MAX_TIME) throw invalidArgument(name, `expected at most 2^53 - 7201, got ${time}`);
  return time;
}

function startOf(checkpoint: PlainCheckpoint | undefined, from: number | undefined): Run["start"] {
  const start = checkpoint ?? from;
  if (start === undefined) {
    throw invalidArgument("checkpoint", "expected this or from, got neither");
  }
  const next = checkpoint && checkpoint.height + 1;
  if (next !== undefined && from !== undefined && from !== next) {
    throw invalidArgument("from", `expected ${next}, the height after the checkpoint, got ${from}`);
  }
  return start;
}
