/**
 * The workers of an instance and the one queue that they serve, in order. A job that needs
 * another key than the cache's waits until all that use the cache are done; one worker fills it
 * then, and the others are handed it. Jobs of one key are spread over the workers in batches.
 */
import { Calibration } from "./calibration.js";
import { Crew, type Member } from "./crew.js";
import { asRandomXError, aborted, type RandomXError, type RandomXErrorCode } from "./errors.js";
import { Hashing, equal, type Call, type Follow, type Job, type Question } from "./job.js";
import type { Choices, Configuration } from "./options.js";
import type { Args, Cache, Hashed, Input, Result, Times } from "./protocol.js";
import type { Version } from "./validate.js";

/** What is to be hashed. */
export interface HashRequest<I extends readonly Input[] = readonly Input[]> {
  key: Uint8Array;
  version: Version;
  inputs: I;
  /** Hears what time was spent with, if the inputs are to be hashed by one worker for that. */
  onTimes?: (times: Times) => void;
}

/** A part of a batch: inputs of one job, and where their hashes belong. */
interface Part {
  job: Hashing;
  inputs: readonly Input[];
  first: number;
}

/** One instance's workers and queue. */
export class Pool {
  readonly #lanes: number;
  readonly #crew: Crew;
  #calibration!: Calibration;
  readonly #queue: Job[] = [];
  /** The memory for caches, once there is one; a lone worker keeps its own. */
  #memory: { shared: WebAssembly.Memory | undefined } | undefined;
  #cache: Cache | undefined;
  #filling: { member: Member; key: Uint8Array } | undefined;
  /** Workers that fill the cache or hash with it. */
  #users = 0;
  #hasHashed = false;
  #isScheduled = false;

  private constructor(choices: Choices) {
    this.#lanes = choices.lanes;
    this.#crew = new Crew(choices, {
      changed: () => {
        this.#schedule();
      },
      lost: (member) => {
        this.#lose(member);
      },
      cannotStart: (error) => {
        this.#queue.shift()?.reject(error);
      },
    });
  }

  /** Starts the first worker, and the others when that has loaded the module. */
  static async open(choices: Choices): Promise<Pool> {
    const pool = new Pool(choices);
    const features = await pool.#crew.open();
    pool.#calibration = new Calibration(choices, features);
    return pool;
  }

  /** How the instance works. */
  get configuration(): Configuration {
    const { threads, features } = this.#crew;
    return {
      threads,
      lanes: this.#lanes,
      engine: this.#calibration.engine,
      features: { ...features },
    };
  }

  /** Hashes inputs, in order; without any, only has the key's cache held. */
  async hash<I extends readonly Input[]>(
    request: HashRequest<I>,
    follow: Follow,
  ): Promise<{ [Index in keyof I]: Hashed }> {
    this.#crew.check();
    if (follow.signal?.aborted) throw aborted(follow.signal);
    const job = new Hashing(request, follow, () => {
      this.#drop(job);
    });
    this.#queue.push(job);
    this.#schedule();
    return job.result as Promise<{ [Index in keyof I]: Hashed }>;
  }

  /** Asks what needs no cache. */
  async ask<O extends Question>(operation: O, args: Args<O>): Promise<Result<O>> {
    this.#crew.check();
    return new Promise((resolve, reject) => {
      const call: Call<O> = { kind: "call", operation, args, resolve, reject };
      this.#queue.push(call);
      this.#schedule();
    });
  }

  /** Ends all workers; what waits and whatever comes later rejects. */
  close(code: RandomXErrorCode, message: string): void {
    const error = this.#crew.close(code, message);
    for (const job of this.#queue.splice(0)) job.reject(error);
    this.#cache = undefined;
    this.#memory = undefined;
  }

  /** Gives out work after all that is called now: requests made together share batches. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      this.#giveOut();
    });
  }

  #giveOut(): void {
    for (const member of this.#crew.idle()) {
      const work = this.#nextFor(member);
      if (!work) continue;
      member.isBusy = true;
      void work.finally(() => {
        member.isBusy = false;
        this.#schedule();
      });
    }
    if (this.#queue.length > 0) this.#crew.fillUp();
  }

  /** Starts an idle worker's next work, if there is any. Such work never rejects. */
  #nextFor(member: Member): Promise<void> | undefined {
    // Not before the first hash, which is not to wait: but beside a fill it costs nothing.
    if ((this.#filling || this.#hasHashed) && this.#calibration.isWanted) {
      return this.#calibration.measure((engines) =>
        member.connection.request("calibrate", { engines }),
      );
    }
    for (;;) {
      const [job] = this.#queue;
      if (!job) return undefined;
      if (job.kind === "call") {
        this.#queue.shift();
        return this.#answer(member, job);
      }
      if (!this.#cache || !equal(this.#cache.key, job.key)) {
        return this.#users > 0 ? undefined : this.#fill(member, job.key);
      }
      if (job.waiting > 0) return this.#hash(member, this.#cache, this.#batch());
      this.#queue.shift();
      job.tell(1);
      job.take(0, [], 0);
    }
  }

  async #answer(member: Member, { operation, args, resolve, reject }: Call): Promise<void> {
    await member.connection.request(operation, args).then(resolve, reject);
  }

  async #fill(member: Member, key: Uint8Array): Promise<void> {
    this.#users += 1;
    this.#filling = { member, key };
    this.#cache = undefined;
    try {
      const shared = this.#crew.features.sharedMemory;
      this.#memory ??= { shared: await member.connection.request("allocate", { shared }) };
      const args = { key, memory: this.#memory.shared };
      const cache = await member.connection.request("fill", args, (done) => {
        // Whoever waits for this key first hears of it; the end is told with the job's turn.
        const job = this.#firstHashing();
        if (done < 1 && job && equal(job.key, key)) job.tell(done);
      });
      member.cache = cache;
      this.#cache = cache;
    } catch (thrown) {
      this.#failFill(key, asRandomXError(thrown));
    } finally {
      this.#users -= 1;
      this.#filling = undefined;
    }
  }

  #failFill(key: Uint8Array, error: RandomXError): void {
    // A worker that has been ended may write on for a moment.
    if (error.code === "worker-failed") this.#memory = undefined;
    const job = this.#firstHashing();
    if (error.code === "aborted" || !job || !equal(job.key, key)) return;
    this.#remove(job);
    job.reject(error);
  }

  /** Takes inputs from the front of the queue, of as many jobs as agree. */
  #batch(): Part[] {
    const parts: Part[] = [];
    const [head] = this.#queue as [Hashing];
    if (head.onTimes) {
      this.#queue.shift();
      head.tell(1);
      return [{ job: head, ...head.handOut(head.waiting) }];
    }
    head.batch ??= this.#batchSize();
    let room = head.batch;
    for (;;) {
      const job = this.#queue[0];
      if (room === 0 || job?.kind !== "hashing" || !isAlike(job, head) || job.waiting === 0) break;
      job.tell(1);
      const part = { job, ...job.handOut(room) };
      parts.push(part);
      room -= part.inputs.length;
      if (job.waiting === 0) this.#queue.shift();
    }
    return parts;
  }

  /** Such that the idle workers are done at the same time, with no more batches than it takes. */
  #batchSize(): number {
    const [head] = this.#queue as [Hashing];
    let inputs = 0;
    for (const job of this.#queue) {
      if (job.kind !== "hashing" || !isAlike(job, head)) break;
      inputs += job.waiting;
    }
    const workers = this.#crew.idle().length;
    const rounds = Math.ceil(inputs / (workers * this.#lanes));
    return Math.ceil(inputs / (workers * rounds));
  }

  async #hash(member: Member, cache: Cache, parts: readonly Part[]): Promise<void> {
    this.#users += 1;
    try {
      if (member.cache !== cache) {
        await member.connection.request("attach", { cache });
        member.cache = cache;
      }
      const inputs = parts.flatMap((part) => part.inputs);
      const version = parts[0]?.job.version ?? 1;
      const args = { version, inputs, engine: this.#calibration.engine };
      const onTimes = parts[0]?.job.onTimes;
      if (onTimes) onTimes(await member.connection.request("measure", args));
      const hashes = onTimes ? [] : await member.connection.request("hash", args);
      this.#hasHashed = true;
      let at = 0;
      for (const { job, inputs, first } of parts) {
        job.take(first, hashes.slice(at, (at += inputs.length)), inputs.length);
      }
    } catch (thrown) {
      const error = asRandomXError(thrown);
      for (const { job } of parts) {
        this.#remove(job);
        job.reject(error);
      }
    } finally {
      this.#users -= 1;
    }
  }

  /** A caller has given up: its job goes, and the fill too, unless another one waits for it. */
  #drop(job: Job): void {
    this.#remove(job);
    const { key, member } = this.#filling ?? {};
    const next = this.#firstHashing();
    if (key && member && !(next && equal(next.key, key))) member.connection.abort();
    this.#schedule();
  }

  #lose(member: Member): void {
    if (this.#crew.features.sharedMemory || !member.cache) return;
    // A worker's own memory went with it.
    this.#cache = undefined;
    this.#memory = undefined;
  }

  #firstHashing(): Hashing | undefined {
    return this.#queue.find((job) => job.kind === "hashing");
  }

  #remove(job: Job): void {
    const index = this.#queue.indexOf(job);
    if (index >= 0) this.#queue.splice(index, 1);
  }
}

/** Whether inputs of two jobs can be hashed together. */
function isAlike(a: Hashing, b: Hashing): boolean {
  return a === b || (a.version === b.version && !a.onTimes && !b.onTimes && equal(a.key, b.key));
}
