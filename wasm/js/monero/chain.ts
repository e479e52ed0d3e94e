/** The verification of a chain: each block must follow the rules that the blocks before it set. */
import { aborted, invalidArgument } from "../errors.js";
import type { ChainArgs, LinkArgs, Result } from "../protocol.js";
import type { Scheduler } from "../scheduler.js";
import type { Bytes, Difficulty, Follow, Network } from "../types.js";
import * as validate from "../validate.js";
import { networkOf, type BlockStatus, type Check } from "./block.js";
import { fromJson, toJson, type ChainCheckpoint } from "./checkpoint.js";
import { isAccepted } from "./rules.js";

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
   * confirm are trusted until enough blocks are known.
   */
  from?: number | undefined;
  /**
   * Checks one proof of work in `sample`, chosen at random: 1 (the default) checks all. `k` forged
   * blocks go unnoticed with a chance of `(1 - 1/sample)^k`. The last proof of work of
   * each batch is always checked, and all other rules hold for every block.
   */
  sample?: number | undefined;
  /** The current time for the check of timestamps, in seconds since 1970. The clock's by default. */
  now?: number | undefined;
  /** The difficulty of every block, below 2^128, on a chain of `monerod --fixed-difficulty`. */
  fixedDifficulty?: Difficulty | undefined;
  /** The network of the chain. `mainnet` by default. */
  network?: Network | undefined;
  /** Accepts a checkpoint that is incomplete or implausible. Verdicts report it. */
  allowIncomplete?: boolean | undefined;
}

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

const MAX_SAMPLE = 1_000_000;

type Start = NonNullable<Result<"chainVerdicts">["checkpoint"]> | number;
type Work = Result<"chainWork">[number];
type Plain = Result<"chainVerdicts">["verdicts"][number];

/** The verdicts on the blocks of a chain, in order. It ends after a block that breaks a rule. */
export class ChainVerification implements AsyncIterableIterator<ChainVerdict> {
  readonly #scheduler: Scheduler;
  readonly #follow: Follow;
  readonly #settings: Pick<ChainArgs, "network" | "allowIncomplete" | "fixedDifficulty">;
  readonly #sample: number;
  readonly #now: number | undefined;
  readonly #verdicts: AsyncGenerator<ChainVerdict, void, undefined>;
  #start: Start;

  /** @internal */
  constructor(scheduler: Scheduler, blocks: unknown, options: unknown, follow: Follow) {
    const given = validate.fields(
      "options",
      options,
      "checkpoint",
      "from",
      "sample",
      "now",
      "fixedDifficulty",
      "network",
      "allowIncomplete",
    );
    const { fixedDifficulty, allowIncomplete } = given;
    this.#scheduler = scheduler;
    this.#follow = follow;
    this.#settings = {
      network: networkOf(given.network),
      allowIncomplete: allowIncomplete === true,
      fixedDifficulty: validate.optional("fixedDifficulty", fixedDifficulty, validate.difficulty),
    };
    this.#sample = validate.count("sample", given.sample ?? 1, MAX_SAMPLE);
    this.#now = validate.optional("now", given.now, validate.height);
    this.#start = startOf(given.checkpoint, given.from);
    this.#verdicts = this.#judge(iterator(blocks));
  }

  /**
   * The chain up to the last block that passed, to store as JSON. `undefined` before the first block
   * of a chain that began without a checkpoint.
   *
   * Blocks are judged in batches, and the checkpoint advances after a batch's last verdict. A chain
   * that continues from it may repeat some verdicts, but skips none.
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

  async *#judge(source: BlockIterator): AsyncGenerator<ChainVerdict, void, undefined> {
    const { signal } = this.#follow;
    try {
      let batch = await this.#read(source, 0);
      for (let count = batch.links.length; batch.links.length > 0;) {
        const now = this.#now ?? Math.floor(Date.now() / 1000);
        const args = { ...this.#settings, start: this.#start, links: batch.links, now };
        const works = await this.#scheduler.ask("chainWork", args, signal);
        // The next blocks arrive while these are hashed. If reading fails, these are still judged.
        const upcoming = batch.failure ? { ...batch, links: [] } : this.#read(source, count);
        const hashes = await this.#hash(works, () => this.#isSampled());
        await this.#addLast(works, hashes);
        const next = await upcoming;
        const { verdicts, checkpoint } = await this.#scheduler.ask(
          "chainVerdicts",
          { ...args, hashes },
          signal,
        );
        for (const verdict of verdicts) {
          if (verdict === verdicts.at(-1)) this.#start = checkpoint ?? this.#start;
          yield fromPlain(verdict);
          if (!isAccepted(verdict)) return;
        }
        count += next.links.length;
        batch = next;
      }
      if (batch.failure) throw batch.failure.error;
    } finally {
      // Not awaited, because the source may hang.
      void Promise.resolve(source.return?.()).catch(() => undefined);
    }
  }

  /** Reads as many blocks as keep all lanes of all workers busy twice. Fewer are the last ones. */
  async #read(source: BlockIterator, first: number): Promise<Batch> {
    const { threads, lanes } = this.#scheduler.configuration;
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

  /** Returns the hashes of some of the works, key by key, in their places. */
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
      const found = await this.#scheduler.hash(request, this.#follow);
      found.forEach(({ hash }, index) => {
        const place = places[index];
        if (place !== undefined) hashes[place] = hash;
      });
    }
    return hashes;
  }

  /** Decides unpredictably whether a proof of work is checked. */
  #isSampled(): boolean {
    if (this.#sample === 1) return true;
    const [random = 0] = crypto.getRandomValues(new Uint32Array(1));
    return random * this.#sample < 2 ** 32;
  }

  /** Adds the hash of the last block, which can then be a checkpoint. */
  async #addLast(works: readonly Work[], hashes: (Uint8Array | undefined)[]): Promise<void> {
    const place = works.findLastIndex((work) => work !== null);
    if (place < 0 || hashes[place]) return;
    const last = works[place];
    hashes[place] = (await this.#hash(works, (work) => work === last))[place];
  }
}

function fromPlain(verdict: Plain): ChainVerdict {
  const { status, difficulty, work, checks } = verdict;
  return {
    ...verdict,
    status: status as BlockStatus,
    valid: status === "valid",
    difficulty: difficulty === null ? null : BigInt(difficulty),
    work: BigInt(work),
    checks: checks as Check[],
  };
}

/** Blocks that are judged together, and the error that ended the source. */
interface Batch {
  links: LinkArgs[];
  failure?: { error: unknown };
}

interface BlockIterator {
  next: () => Promise<IteratorResult<unknown, unknown>> | IteratorResult<unknown, unknown>;
  return?: () => unknown;
}

function iterator(blocks: unknown): BlockIterator {
  return validate.reading("blocks", () => {
    const iterable = blocks as
      Partial<AsyncIterable<unknown> & Iterable<unknown>> | null | undefined;
    const source = iterable?.[Symbol.asyncIterator]?.() ?? iterable?.[Symbol.iterator]?.();
    if (!source) throw invalidArgument("blocks", "expected an iterable or an async iterable");
    return source;
  });
}

function startOf(checkpoint: unknown, from: unknown): Start {
  const first = validate.optional("from", from, validate.height);
  if (checkpoint === undefined) {
    if (first === undefined)
      throw invalidArgument("checkpoint", "expected this or from, got neither");
    return first;
  }
  const start = fromJson(checkpoint);
  if (first !== undefined && first !== start.height + 1) {
    const next = start.height + 1;
    throw invalidArgument(
      "from",
      `expected ${next}, the height after the checkpoint, got ${first}`,
    );
  }
  return start;
}

function linkArgs(name: string, value: unknown): LinkArgs {
  const { blob, header } = validate.fields(name, value, "blob", "header");
  const [fieldsName, given] = blob === undefined ? [name, value] : [`${name}.header`, header];
  const { block, hashingBlob, id, height, seedHash, difficulty } = validate.fields(
    fieldsName,
    given,
    "block",
    "hashingBlob",
    "id",
    "height",
    "seedHash",
    "difficulty",
  );
  return {
    block: validate.optional(`${name}.block`, blob ?? block, validate.bytes),
    hashingBlob: validate.optional(`${name}.hashingBlob`, hashingBlob, validate.bytes),
    id: validate.optional(`${name}.id`, id, validate.hash),
    height: validate.optional(`${name}.height`, height, validate.height),
    seedHash: validate.optional(`${name}.seedHash`, seedHash, validate.hash),
    difficulty: validate.optional(`${name}.difficulty`, difficulty, validate.difficulty),
  };
}

/** Resolves like a promise, but rejects as soon as a signal is aborted. */
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
