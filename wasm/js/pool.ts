/**
 * The workers of an instance and the one queue that they serve, in order. A job that needs a cache
 * which is not held waits until a slot is free; one worker fills it then, and the others are handed
 * it. Jobs of one key are spread over the workers in batches.
 */
import { newFront } from "./ahead.js";
import { Batches, type Part } from "./batches.js";
import { Calibration } from "./calibration.js";
import { Crew, type Member } from "./crew.js";
import { asRandomXError, aborted, type RandomXErrorCode } from "./errors.js";
import { Call, Hashing, Release, type Follow, type Job, type Question } from "./job.js";
import type { Choices, Configuration } from "./options.js";
import type { Args, Hashed, Input, Result, Times } from "./protocol.js";
import { Queue } from "./queue.js";
import { Slots, type Slot } from "./slots.js";
import { Counters, type Stats } from "./stats.js";
import type { Version } from "./validate.js";
import { collect } from "./waste.js";

/** What is to be hashed. */
export interface HashRequest<I extends readonly Input[] = readonly Input[]> {
  key: Uint8Array;
  version: Version;
  inputs: I;
  /** Hears what time was spent with, if the inputs are to be hashed by one worker for that. */
  onTimes?: (times: Times) => void;
}

/** One instance's workers and queue. */
export class Pool {
  readonly #choices: Choices;
  readonly #crew: Crew;
  readonly #slots: Slots;
  readonly #queue: Queue;
  readonly #batches: Batches;
  readonly #counters = new Counters();
  #calibration!: Calibration;
  #isScheduled = false;
  #hasRules = false;

  constructor(choices: Choices) {
    this.#choices = choices;
    this.#slots = new Slots(choices.slots);
    this.#queue = new Queue(choices.maxQueue);
    this.#batches = new Batches(this.#queue, this.#slots, choices.lanes);
    this.#crew = new Crew(choices, {
      changed: () => {
        this.#schedule();
      },
      lost: () => {
        this.#lose();
      },
      cannotStart: (error) => {
        const [job] = this.#queue.jobs;
        if (!job) return;
        this.#queue.remove(job);
        job.reject(error);
      },
    });
  }

  /** Starts the first worker, and the others when that has loaded the module. */
  async open(): Promise<void> {
    const features = await this.#crew.open();
    this.#calibration = new Calibration(this.#choices, features);
  }

  /** How the instance works. */
  get configuration(): Configuration {
    const { threads, features } = this.#crew;
    const { lanes, slots } = this.#choices;
    const { engine } = this.#calibration;
    return { threads, lanes, slots, engine, features: { ...features } };
  }

  /** What the instance has done and is at. */
  get stats(): Stats {
    return this.#counters.stats(this.#crew, this.#queue, this.#slots);
  }

  /** Throws what a request with so many inputs would meet. */
  check(inputs: number, signal: AbortSignal | undefined): void {
    this.#crew.check();
    if (signal?.aborted) throw aborted(signal);
    this.#queue.check(inputs);
  }

  /** Hashes inputs, in order; without any, only has the key's cache held. */
  async hash<I extends readonly Input[]>(
    request: HashRequest<I>,
    follow: Follow,
  ): Promise<{ [Index in keyof I]: Hashed }> {
    this.check(request.inputs.length, follow.signal);
    const job = new Hashing(request, follow, () => {
      this.#drop(job);
    });
    return this.#enqueue(job) as Promise<{ [Index in keyof I]: Hashed }>;
  }

  /** Has a worker load Monero's rules while it does other things. */
  loadRules(): void {
    if (this.#hasRules) return;
    this.#hasRules = true;
    this.ask("loadRules", null).catch(() => undefined);
  }

  /** Asks what needs no cache. */
  async ask<O extends Question>(
    operation: O,
    args: Args<O>,
    signal?: AbortSignal,
  ): Promise<Result<O>> {
    this.check(0, signal);
    const call = new Call(operation, args, signal, () => {
      this.#drop(call);
    });
    // A worker answers an operation with its own kind of result.
    return this.#enqueue(call);
  }

  /** Gives a key's cache back when all that was asked of it before is done. */
  async release(key: Uint8Array, signal: AbortSignal | undefined): Promise<void> {
    this.check(0, signal);
    const job = new Release(key, signal, () => {
      this.#drop(job);
    });
    return this.#enqueue(job);
  }

  /** Ends all workers; what waits and whatever comes later rejects. Resolves when they are gone. */
  close(code: RandomXErrorCode, message: string): Promise<void> {
    const { error, gone } = this.#crew.close(code, message);
    for (const job of this.#queue.clear()) job.reject(error);
    for (const slot of this.#slots.all) this.#slots.empty(slot, { memory: true });
    collect();
    return gone;
  }

  #enqueue<T>(job: Job & { result: Promise<T> }): Promise<T> {
    this.#queue.add(job);
    this.#schedule();
    return job.result;
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
    if (this.#queue.waiting.requests > 0) this.#crew.fillUp();
  }

  /** Starts an idle worker's next work, if there is any. Such work never rejects. */
  #nextFor(member: Member): Promise<void> | undefined {
    const stale = this.#slots.all.find(({ index, memory }) => !memory && member.caches[index]);
    if (stale) return this.#forget(member, stale);
    const ahead = this.#goAhead(member);
    if (ahead) return ahead;
    // Not before the first hash, which is not to wait: but beside a fill it costs nothing.
    const isFilling = this.#slots.all.some(({ filling }) => filling);
    if ((isFilling || this.#counters.hasHashed) && this.#calibration.isWanted) {
      return this.#calibration.measure((engines) =>
        member.connection.request("calibrate", { engines }),
      );
    }
    let mustWait = false;
    for (const job of this.#queue.jobs) {
      if (job instanceof Call) return this.#answer(member, job);
      // Nobody overtakes a job that waits for a slot, or one of the same key.
      if (mustWait) continue;
      const slot = this.#slots.of(job.key);
      if (job instanceof Release) {
        if (!slot || slot.users === 0) this.#give(job, slot);
        else mustWait = true;
      } else if (!slot) {
        const free = this.#slots.free();
        if (free) return this.#fill(member, free, job.key);
        mustWait = true;
      } else if (slot.cache) {
        if (job.waiting > 0) return this.#hash(member, slot, job);
        this.#queue.remove(job);
        job.filled(1);
        job.take(0, [], 0);
      }
    }
    return undefined;
  }

  async #answer(member: Member, call: Call): Promise<void> {
    this.#queue.remove(call);
    try {
      call.resolve(await member.connection.request(call.operation, call.args));
    } catch (thrown) {
      call.reject(asRandomXError(thrown));
    }
  }

  /** Lets go of the memory of a slot; workers that know it are told when they have time. */
  #give(job: Release, slot: Slot | undefined): void {
    this.#queue.remove(job);
    if (slot) this.#slots.empty(slot, { memory: true });
    job.resolve();
  }

  async #forget(member: Member, { index }: Slot): Promise<void> {
    member.caches[index] = undefined;
    await member.connection.request("release", { slot: index }).catch(() => {
      // A worker that is gone has let go of everything.
    });
    collect();
  }

  async #fill(member: Member, slot: Slot, key: Uint8Array): Promise<void> {
    this.#slots.use(slot);
    this.#slots.empty(slot, { memory: false });
    Object.assign(slot, { key, filling: member });
    const start = performance.now();
    try {
      const shared = this.#crew.features.sharedMemory;
      const at = { slot: slot.index };
      if (!slot.memory) {
        const memory = await member.connection.request("allocate", { ...at, shared });
        slot.memory = { shared: memory };
        if (memory) slot.front = newFront();
      }
      const args = { ...at, key, memory: slot.memory.shared, front: slot.front };
      // Somebody else may go ahead.
      this.#schedule();
      const cache = await member.connection.request("fill", args, (done) => {
        // Whoever waits for this key first hears of it; the end is told with the job's turn.
        if (done < 1) this.#queue.firstFor(key)?.filled(done);
      });
      member.caches[slot.index] = cache;
      slot.cache = cache;
      this.#counters.filled(performance.now() - start);
    } catch (thrown) {
      const error = asRandomXError(thrown);
      // A worker that has been ended may write on for a moment.
      this.#slots.empty(slot, { memory: error.code === "worker-failed" });
      const job = this.#queue.firstFor(key);
      if (error.code !== "aborted" && job) {
        this.#queue.remove(job);
        job.reject(error);
      }
    } finally {
      slot.users -= 1;
      slot.filling = undefined;
      slot.front = undefined;
    }
  }

  /** Has an idle worker go ahead of a fill, once. */
  #goAhead({ connection }: Member): Promise<void> | undefined {
    const slot = this.#slots.all.find(({ filling, front }) => filling && front);
    if (!slot?.front || !slot.memory?.shared) return undefined;
    const args = { memory: slot.memory.shared, front: slot.front };
    slot.front = undefined;
    return connection.request("goAhead", args).then(
      () => undefined,
      // The fill does without.
      () => undefined,
    );
  }

  async #hash(member: Member, slot: Slot, head: Hashing): Promise<void> {
    const { cache } = slot;
    if (!cache) return;
    this.#slots.use(slot);
    const parts = this.#batches.take(head, this.#crew.idle().length);
    const start = performance.now();
    try {
      if (member.caches[slot.index] !== cache) {
        await member.connection.request("attach", { slot: slot.index, cache });
        member.caches[slot.index] = cache;
      }
      const count = await this.#run(member, slot, head, parts);
      this.#counters.hashed(count, performance.now() - start);
    } catch (thrown) {
      const error = asRandomXError(thrown);
      for (const { job } of parts) {
        this.#queue.remove(job);
        job.reject(error);
      }
    } finally {
      slot.users -= 1;
    }
  }

  /** Has a worker hash a batch, and tells how many inputs that were. */
  async #run(
    { connection }: Member,
    slot: Slot,
    { version, onTimes }: Hashing,
    parts: readonly Part[],
  ): Promise<number> {
    const inputs = parts.flatMap((part) => part.inputs);
    const args = { slot: slot.index, version, inputs, engine: this.#calibration.engine };
    if (onTimes) onTimes(await connection.request("measure", args));
    const hashes = onTimes ? [] : await connection.request("hash", args);
    let at = 0;
    for (const { job, inputs, first } of parts) {
      job.take(first, hashes.slice(at, (at += inputs.length)), inputs.length);
    }
    return inputs.length;
  }

  /** A caller has given up: its job goes, and the fill too, unless another one waits for it. */
  #drop(job: Job): void {
    this.#queue.remove(job);
    for (const { key, filling } of this.#slots.all) {
      if (key && filling && !this.#queue.firstFor(key)) filling.connection.abort();
    }
    this.#schedule();
  }

  #lose(): void {
    if (this.#crew.features.sharedMemory) return;
    // A lone worker's own memory went with it.
    for (const slot of this.#slots.all) this.#slots.empty(slot, { memory: true });
  }
}
