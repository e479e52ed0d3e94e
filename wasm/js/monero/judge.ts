/** Judges the blocks of a chain in batches. A page loads this module only when it verifies a chain. */
import { Signals, unlessEnded } from "../abort.js";
import { aborted, errorOf } from "../errors.js";
import { onlyCache } from "../job.js";
import type { LinkArgs, Result } from "../protocol.js";
import { equal } from "../bytes.js";
import type { Scheduler } from "../scheduler.js";
import type { Follow } from "../types.js";
import * as validate from "../validate.js";
import { isAccepted } from "./accepted.js";
import type { BlockStatus, Check } from "./block.js";
import type { BlockIterator, ChainVerdict, Run } from "./run.js";

/** The bytes of blocks after which no more are judged together. */
const MAX_BATCH = 2 << 20;

/** Milliseconds that a batch waits for one more block while no worker hashes. */
const PATIENCE = 100;

const LINK = {
  block: validate.optional(validate.bytes),
  hashingBlob: validate.optional(validate.bytes),
  id: validate.optional(validate.hash),
  height: validate.optional(validate.height),
  difficulty: validate.optional(validate.difficulty),
};

type Work = Result<"chainWork">["works"][number];
type Plain = Result<"chainVerdicts">["verdicts"][number];

/** Judges the blocks of one verification. */
export class Judge {
  readonly #scheduler: Scheduler;
  readonly #run: Run;
  readonly #signal: AbortSignal | undefined;
  /** Aborted when the verification ends. */
  readonly #stop = new AbortController();
  readonly #hashing = new Signals();
  readonly #onProgress: Follow["onProgress"];
  /** Whether the source has ended or failed. */
  hasEnded = false;
  /** The block that is being read, perhaps since an earlier batch. */
  #arriving: Promise<IteratorResult<unknown, unknown>> | undefined;
  /** The key whose fill was reported last. */
  #reported: Uint8Array | undefined;
  /** The chain's work since its start, if the work of the start is unknown. */
  #unknownWork = 0n;
  /** Whether the chain began with a checkpoint that is complete and plausible. */
  #completeStart: boolean | undefined;

  /** After each batch, `run.start` is where the next one begins. */
  constructor(scheduler: Scheduler, run: Run, { signal, onProgress }: Follow) {
    this.#scheduler = scheduler;
    this.#run = run;
    this.#signal = signal;
    this.#onProgress = onlyCache(onProgress);
  }

  /** Judges blocks, one batch after another, up to the first that breaks a rule. */
  async *verdicts(source: BlockIterator): AsyncGenerator<ChainVerdict, void, undefined> {
    const signal = this.#signal;
    if (signal?.aborted) throw aborted(signal);
    const end = (): void => {
      this.#stop.abort(signal?.reason);
      this.#hashing.abort(signal?.reason);
    };
    signal?.addEventListener("abort", end);
    try {
      yield* this.#judged(source);
    } finally {
      signal?.removeEventListener("abort", end);
      end();
    }
  }

  async *#judged(source: BlockIterator): AsyncGenerator<ChainVerdict, void, undefined> {
    const { network, fixedDifficulty, now: given } = this.#run;
    const signal = this.#signal;
    let batch = await this.#read(source, 0, Promise.resolve());
    let count = batch.links.length;
    while (batch.links.length > 0) {
      const now = given ?? Math.floor(Date.now() / 1000);
      const { start } = this.#run;
      // Only the caller's checkpoint can be refused. The later ones grow from it.
      const allowIncomplete = this.#run.allowIncomplete || this.#completeStart !== undefined;
      const links = batch.links;
      const settings = { network, allowIncomplete, fixedDifficulty };
      const args = { ...settings, start, links, first: count - links.length, now };
      const {
        works,
        verdicts: judged,
        failure,
      } = await this.#scheduler.whenRoom(signal, () =>
        this.#scheduler.ask("chainWork", args, signal),
      );
      const ended = failure ? { error: errorOf(failure) } : batch.failure;
      const hashing = this.#hash(works);
      // The next blocks arrive while these are hashed. If reading fails, these are still judged.
      const upcoming = ended ? { links: [], failure: ended } : this.#read(source, count, hashing);
      const hashes = await hashing;
      const proofs = links.flatMap((link, index) => proofOf(link, works[index]));
      const proven = { ...args, links: proofs, hashes, judged };
      const { verdicts, checkpoint } = await this.#scheduler.whenRoom(signal, () =>
        this.#scheduler.ask("chainVerdicts", proven, signal),
      );
      const before = this.#unknownWork;
      for (const plain of verdicts) {
        this.#completeStart ??= plain.completeStart;
        const verdict = fromPlain(plain, before, this.#completeStart);
        if (plain === verdicts.at(-1)) {
          if (!hasWork(start)) this.#unknownWork = verdict.work;
          this.#run.start = checkpoint ?? start;
        }
        yield verdict;
        if (!isAccepted(verdict)) return;
        this.#scheduler.check(0, signal);
      }
      // Not earlier: a source that waits for new blocks delays no verdict.
      batch = await upcoming;
      count += batch.links.length;
    }
    if (batch.failure) throw batch.failure.error;
  }

  /**
   * Reads as many blocks as keep all lanes of all workers busy twice, or fewer if they are large, or if the next one
   * is late when `hashing` has settled. Returns no links at the end of the source.
   */
  async #read(source: BlockIterator, first: number, hashing: Promise<unknown>): Promise<Batch> {
    const { lanes } = this.#scheduler;
    const { signal } = this.#stop;
    const links: LinkArgs[] = [];
    let bytes = 0;
    try {
      while ((this.#arriving || !this.hasEnded) && links.length < 2 * lanes && bytes < MAX_BATCH) {
        this.#arriving ??= unlessEnded(this.#next(source), signal, this.#scheduler);
        const arrived = await (links.length > 0 ? soon(this.#arriving, hashing) : this.#arriving);
        if (arrived === "late") break;
        this.#arriving = undefined;
        const { done, value } = arrived;
        if (done) break;
        const link = linkArgs(`blocks[${first + links.length}]`, value);
        bytes += (link.block?.length ?? 0) + (link.hashingBlob?.length ?? 0);
        links.push(link);
      }
      return { links };
    } catch (error) {
      return { links, failure: { error } };
    }
  }

  async #next(source: BlockIterator): Promise<IteratorResult<unknown, unknown>> {
    try {
      const next = await source.next();
      if (next.done) this.hasEnded = true;
      return next;
    } catch (error) {
      this.hasEnded = true;
      throw error;
    }
  }

  /** Returns the hashes of the sampled works and of the last one, which can then be a checkpoint. */
  async #hash(works: readonly Work[]): Promise<(Uint8Array | undefined)[]> {
    const last = works.findLastIndex((work) => work !== null);
    const { signal } = this.#stop;
    if (signal.aborted) throw aborted(signal);
    const chosen = works.map((work, index) => (index === last || this.#isSampled() ? work : null));
    const hashes: (Uint8Array | undefined)[] = [];
    // One key after another, so that their fills are reported in turn.
    while (hashes.length < chosen.length) {
      const rest = chosen.slice(hashes.length);
      const key = rest.find((work) => work)?.seedHash;
      const end = rest.findIndex((work) => work && key && !equal(work.seedHash, key));
      hashes.push(...(await this.#hashGroup(end < 0 ? rest : rest.slice(0, end), key)));
    }
    return hashes;
  }

  /** Returns the hashes of works with the same key. The first reports, if the key is a new one. */
  #hashGroup(works: readonly Work[], key: Uint8Array | undefined) {
    const isNew = key && !(this.#reported && equal(key, this.#reported));
    const first = isNew && works.find((work) => work);
    this.#reported = key ?? this.#reported;
    return Promise.all(
      works.map(async (work) => {
        if (!work) return undefined;
        const onProgress = work === first ? this.#onProgress : undefined;
        return this.#hashing.run((signal) => this.#hashOne(work, { signal, onProgress }));
      }),
    );
  }

  /** Requests with the same key are hashed together. */
  async #hashOne(
    { seedHash: key, hashingBlob: bytes }: NonNullable<Work>,
    follow: Follow,
  ): Promise<Uint8Array> {
    const request = { key, version: 1, inputs: [{ bytes }] } as const;
    const [hash] = await this.#scheduler.whenRoom(follow.signal, () =>
      this.#scheduler.hash(request, follow),
    );
    return hash;
  }

  /** Decides unpredictably whether a proof of work is checked. */
  #isSampled(): boolean {
    const { sample } = this.#run;
    if (sample === 1) return true;
    const [random = 0] = crypto.getRandomValues(new Uint32Array(1));
    return random * sample < 2 ** 32;
  }
}

/** Returns a verdict on a block of a chain, from that on a block of a batch. */
function fromPlain(verdict: Plain, before: bigint, completeStart: boolean): ChainVerdict {
  const { status, difficulty, work, checks } = verdict;
  return {
    ...verdict,
    completeStart,
    status: status as BlockStatus,
    valid: status === "valid",
    difficulty: difficulty === null ? null : BigInt(difficulty),
    work: before + BigInt(work),
    checks: checks as Check[],
  };
}

/** Returns whether the work up to a start is known. A batch counts from 0 otherwise. */
function hasWork(start: Run["start"]): boolean {
  return typeof start !== "number" && start.work !== "0";
}

/** Resolves like a promise, or with `late` if that takes too long after another one has settled. */
function soon<T>(promise: Promise<T>, other: Promise<unknown>): Promise<T | "late"> {
  return new Promise((resolve, reject) => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isSettled = false;
    const wait = (): void => {
      if (!isSettled) timer = setTimeout(resolve, PATIENCE, "late");
    };
    other.then(wait, wait);
    promise
      .finally(() => {
        isSettled = true;
        clearTimeout(timer);
      })
      .then(resolve, reject);
  });
}

/** Returns a judged block without its blob, to check its proof of work. */
function proofOf(link: LinkArgs, work: Work | undefined): LinkArgs[] {
  return work ? [{ ...link, block: undefined, hashingBlob: work.hashingBlob }] : [];
}

/** Blocks that are judged together, and the error that ended the source. */
interface Batch {
  links: LinkArgs[];
  failure?: { error: unknown };
}

function linkArgs(name: string, value: unknown): LinkArgs {
  const own = {
    blob: validate.any,
    header: validate.any,
    seedHash: validate.optional(validate.hash),
  };
  const { blob, header, seedHash } = validate.fields(name, value, own, `${name}.`);
  const isOfNode = blob !== undefined;
  const at = isOfNode ? `${name}.header` : name;
  const claims = validate.fields(at, isOfNode ? header : value, LINK, `${at}.`);
  const link = { ...claims, seedHash };
  return isOfNode ? { ...link, block: validate.bytes(`${name}.blob`, blob) } : link;
}
