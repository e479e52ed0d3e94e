/** Block after block, each held against what the blocks before it demand. */
import { aborted, invalidArgument } from "../errors.js";
import type { Follow } from "../job.js";
import type { Pool } from "../pool.js";
import type { ChainArgs, LinkArgs, Result } from "../protocol.js";
import * as validate from "../validate.js";
import type { Bytes, Difficulty, Network } from "../validate.js";
import { networkOf, type BlockStatus, type Check } from "./block.js";
import { fromJson, toJson, type ChainCheckpoint } from "./checkpoint.js";
import { isAccepted } from "./rules.js";

/**
 * A block of a chain, and what was said about it: what the chain knows by itself is held against that.
 * What `MoneroNode` gives is one, too.
 */
export interface ChainBlock {
  /** The block blob, at most 1 MiB. */
  block?: Bytes | undefined;
  /** The hashing blob; one of the two is needed. It does not tell its height. */
  hashingBlob?: Bytes | undefined;
  /** The block's id. */
  id?: Bytes | undefined;
  /** The block's height. */
  height?: number | undefined;
  /** The key: needed, and believed, where the block that has it as its id is not known. */
  seedHash?: Bytes | undefined;
  /** The difficulty: needed, and believed, where too few blocks are known to compute it. */
  difficulty?: Difficulty | undefined;
}

/** A block as a node tells it, with its header. */
interface ToldBlock {
  blob: Uint8Array;
  header: { id: string; height: number; difficulty: bigint };
}

/** Blocks in the order of the chain. */
export type ChainBlocks = Iterable<ChainBlock | ToldBlock> | AsyncIterable<ChainBlock | ToldBlock>;

/** Where a chain begins, and how much of it is looked at. */
export interface VerifyChainOptions extends Follow {
  /** What the blocks follow on; this or `from` is needed. */
  checkpoint?: ChainCheckpoint | undefined;
  /**
   * The height of the first block. Without a checkpoint all is believed about it that only blocks
   * before it could tell, and so on until enough are known.
   */
  from?: number | undefined;
  /**
   * Of how many blocks one proof of work is looked at, chosen at random: 1 (the default) looks at all.
   * Of `k` forged blocks none is noticed with a chance of `(1 - 1/sample)^k`; the last block of
   * a batch is always looked at. All other rules hold for every block.
   */
  sample?: number | undefined;
  /** The time that timestamps are held against, in seconds since 1970: the clock's. */
  now?: number | undefined;
  /** What every block must meet, below 2^128, on a chain of `monerod --fixed-difficulty`. */
  fixedDifficulty?: Difficulty | undefined;
  /** The network of the chain; `mainnet` by default. */
  network?: Network | undefined;
  /** Accepts a checkpoint that is incomplete or implausible. Verdicts report it. */
  allowIncomplete?: boolean | undefined;
}

/** What is to be said about a block of a chain. */
export interface ChainVerdict {
  /** The judgement. After `invalid` or `update-needed` there is no other block. */
  status: BlockStatus;
  /** Whether the status is `valid`. */
  valid: boolean;
  /** The difficulty that the block had to meet, if it came to that. */
  difficulty: bigint | null;
  /** The chain's work up to this block, or since its start where the checkpoint has none. */
  work: bigint;
  /** Whether the chain began with a checkpoint that is complete and plausible. */
  completeStart: boolean;
  /** The ids of the transactions, the miner's first; empty for a hashing blob. */
  transactionIds: Uint8Array[];
  /** The height that the block has in the chain. */
  height: number;
  /** Its id, if it could be read. */
  id: Uint8Array | null;
  /** Its RandomX hash, if it was computed. */
  hash: Uint8Array | null;
  /** What was looked at: all that a {@link CheckName} names. */
  checks: Check[];
}

const MAX_SAMPLE = 1_000_000;

type Start = NonNullable<Result<"chainVerdicts">["checkpoint"]> | number;
type Work = Result<"chainWork">[number];

/** The verdicts on the blocks of a chain, as they come; it ends after one that is not valid. */
export class ChainVerification implements AsyncIterableIterator<ChainVerdict> {
  readonly #pool: Pool;
  readonly #follow: Follow;
  readonly #settings: Pick<ChainArgs, "network" | "allowIncomplete" | "fixedDifficulty">;
  readonly #sample: number;
  readonly #now: number | undefined;
  readonly #verdicts: AsyncGenerator<ChainVerdict, void, undefined>;
  #start: Start;

  /** @internal */
  constructor(pool: Pool, blocks: unknown, given: VerifyChainOptions, follow: Follow) {
    const { network, allowIncomplete, sample, now, fixedDifficulty } = validate.record(
      "options",
      given,
    );
    this.#pool = pool;
    this.#follow = follow;
    this.#settings = {
      network: networkOf(network),
      allowIncomplete: allowIncomplete === true,
      fixedDifficulty:
        fixedDifficulty === undefined
          ? fixedDifficulty
          : validate.difficulty("fixedDifficulty", fixedDifficulty),
    };
    this.#sample = sample === undefined ? 1 : validate.count("sample", sample, MAX_SAMPLE);
    this.#now = now === undefined ? now : validate.height("now", now);
    this.#start = startOf(given);
    this.#verdicts = this.#judge(iterator(blocks));
  }

  /**
   * The chain up to the last block that was told to be valid, to be kept as JSON; there is none before
   * the first one of a chain that began without.
   *
   * Blocks are judged some at a time, and this is the end of the last ones that were told to the
   * end. So a chain that is resumed from it may repeat some verdicts and never lacks one.
   */
  get checkpoint(): ChainCheckpoint | undefined {
    return typeof this.#start === "number" ? undefined : toJson(this.#start);
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

  async *#judge(source: Source): AsyncGenerator<ChainVerdict, void, undefined> {
    const { signal } = this.#follow;
    try {
      let batch = await this.#take(source, 0);
      for (let count = batch.links.length; batch.links.length > 0;) {
        const now = this.#now ?? Math.floor(Date.now() / 1000);
        const args = { ...this.#settings, start: this.#start, links: batch.links, now };
        const works = await this.#pool.ask("chainWork", args, signal);
        // The next ones arrive while these are hashed. If they do not, these are judged still.
        const upcoming = batch.failure ? { ...batch, links: [] } : this.#take(source, count);
        const hashes = await this.#hash(works, () => this.#isSampled());
        await this.#addLast(works, hashes);
        const next = await upcoming;
        const { verdicts, checkpoint } = await this.#pool.ask(
          "chainVerdicts",
          { ...args, hashes },
          signal,
        );
        for (const verdict of verdicts) {
          if (verdict === verdicts.at(-1)) this.#start = checkpoint ?? this.#start;
          const { status, difficulty, work } = verdict;
          yield {
            ...verdict,
            status: status as BlockStatus,
            valid: status === "valid",
            difficulty: difficulty === null ? null : BigInt(difficulty),
            work: BigInt(work),
            checks: verdict.checks as Check[],
          };
          if (!isAccepted(verdict)) return;
        }
        count += next.links.length;
        batch = next;
      }
      if (batch.failure) throw batch.failure.error;
    } finally {
      // Not waited for: a source that hangs would hang whoever gave up.
      void Promise.resolve(source.return?.()).catch(() => undefined);
    }
  }

  /** As many blocks as keep all lanes of all workers busy twice; fewer are the last. */
  async #take(source: Source, first: number): Promise<Batch> {
    const { threads, lanes } = this.#pool.configuration;
    const { signal } = this.#follow;
    const links: LinkArgs[] = [];
    try {
      while (links.length < 2 * threads * lanes) {
        const { done, value } = await unlessAborted(Promise.resolve(source.next()), signal);
        if (done) break;
        links.push(linkArgs(`blocks[${first + links.length}]`, value));
      }
      return { links };
    } catch (error) {
      return { links, failure: { error } };
    }
  }

  /** The hashes of some of the works, key by key, in their places. */
  async #hash(
    works: readonly Work[],
    isWanted: (work: Work) => boolean,
  ): Promise<(Uint8Array | undefined)[]> {
    const hashes = new Array<Uint8Array | undefined>(works.length).fill(undefined);
    const groups = new Map<string, { key: Uint8Array; places: number[]; inputs: Uint8Array[] }>();
    works.forEach((work, place) => {
      if (!work || !isWanted(work)) return;
      const { seedHash: key, hashingBlob } = work;
      const group = groups.get(key.join()) ?? { key, places: [], inputs: [] };
      groups.set(key.join(), group);
      group.places.push(place);
      group.inputs.push(hashingBlob);
    });
    for (const { key, places, inputs } of groups.values()) {
      const request = { key, version: 1, inputs: inputs.map((bytes) => ({ bytes })) } as const;
      const found = await this.#pool.hash(request, this.#follow);
      found.forEach(({ hash }, index) => {
        const place = places[index];
        if (place !== undefined) hashes[place] = hash;
      });
    }
    return hashes;
  }

  /** Whoever chooses which blocks are looked at must not be foreseen. */
  #isSampled(): boolean {
    if (this.#sample === 1) return true;
    const [random = 0] = crypto.getRandomValues(new Uint32Array(1));
    return random * this.#sample < 2 ** 32;
  }

  /** Each batch ends in a block that can be a checkpoint, since its proof of work was checked. */
  async #addLast(works: readonly Work[], hashes: (Uint8Array | undefined)[]): Promise<void> {
    const place = works.findLastIndex((work) => work !== null);
    if (place < 0 || hashes[place]) return;
    const last = works[place];
    hashes[place] = (await this.#hash(works, (work) => work === last))[place];
  }
}

/** Blocks that are judged together, and why there are no more. */
interface Batch {
  links: LinkArgs[];
  failure?: { error: unknown };
}

interface Source {
  next: () => Promise<IteratorResult<unknown, unknown>> | IteratorResult<unknown, unknown>;
  return?: () => unknown;
}

function iterator(blocks: unknown): Source {
  const iterable = validate.record("blocks", blocks) as Partial<
    AsyncIterable<unknown> & Iterable<unknown>
  >;
  const source = iterable[Symbol.asyncIterator]?.() ?? iterable[Symbol.iterator]?.();
  if (!source) throw invalidArgument("blocks", "expected an iterable or an async one");
  return source;
}

function startOf({ checkpoint, from }: VerifyChainOptions): Start {
  const first = from === undefined ? undefined : validate.height("from", from);
  if (checkpoint === undefined) {
    if (first === undefined) throw invalidArgument("checkpoint", "expected this one or from");
    return first;
  }
  const start = fromJson(checkpoint);
  if (first !== undefined && first !== start.height + 1) {
    throw invalidArgument("from", `expected ${start.height + 1}, after the checkpoint`);
  }
  return start;
}

function linkArgs(name: string, value: unknown): LinkArgs {
  const given = validate.record(name, value);
  const told =
    given.blob === undefined
      ? given
      : { ...validate.record(`${name}.header`, given.header), block: given.blob };
  const { block, hashingBlob, id, height, seedHash, difficulty } = told as Partial<
    Record<keyof ChainBlock, unknown>
  >;
  const optional = <T>(
    field: string,
    value: unknown,
    check: (name: string, value: unknown) => T,
  ): T | undefined => (value === undefined ? value : check(`${name}.${field}`, value));
  return {
    block: optional("block", block, validate.bytes),
    hashingBlob: optional("hashingBlob", hashingBlob, validate.bytes),
    id: optional("id", id, validate.hash),
    height: optional("height", height, validate.height),
    seedHash: optional("seedHash", seedHash, validate.hash),
    difficulty: optional("difficulty", difficulty, validate.difficulty),
  };
}

/** A promise, or the abort of a signal, whichever comes first. */
async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  if (signal.aborted) throw aborted(signal);
  let stop = (): void => undefined;
  const abort = new Promise<never>((_, reject) => {
    stop = () => {
      reject(aborted(signal));
    };
    signal.addEventListener("abort", stop);
  });
  try {
    return await Promise.race([promise, abort]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
