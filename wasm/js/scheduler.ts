/**
 * The scheduler of an instance: it hands the requests of the one queue to the workers. A request that needs a cache
 * which is not held waits for a free slot. One worker fills that slot, and the others attach to it. Requests of one
 * key are spread over the workers in batches.
 */
import { batchesToBeAhead, hashBatch, takeBatch } from "./batches.js";
import { Calibration } from "./calibration.js";
import { RandomXError, asRandomXError, aborted, type RandomXErrorCode } from "./errors.js";
import { collect } from "./garbage.js";
import {
  Call,
  Hashing,
  Release,
  type Answer,
  type HashRequest,
  type Job,
  type KeyJob,
  type Question,
} from "./job.js";
import { Keeper } from "./kept/keeper.js";
import { modules } from "./modules.js";
import type { Choices, Configuration } from "./options.js";
import type { Args, Input, Result } from "./protocol.js";
import { Queue } from "./queue.js";
import { Slots, mustRefill, type Slot } from "./slots.js";
import { Startable } from "./startable.js";
import { Counters, type Stats } from "./stats.js";
import type { Follow } from "./types.js";
import { WorkerPool, type WorkerHandle } from "./worker_pool.js";

/** Schedules the requests of one instance. */
export class Scheduler {
  readonly #choices: Choices;
  readonly #workers: WorkerPool;
  readonly #slots: Slots;
  readonly #queue: Queue;
  readonly #startable: Startable;
  readonly #counters = new Counters();
  readonly #keeper: Keeper;
  #calibration!: Calibration;
  readonly #attached = new Set<(error: RandomXError) => unknown>();
  #isScheduled = false;
  #hasRules = false;

  constructor(choices: Choices) {
    this.#choices = choices;
    this.#slots = new Slots(choices.slots);
    this.#queue = new Queue(choices.maxQueue);
    this.#keeper = new Keeper(choices.keepCache, this.#slots, this.#schedule);
    this.#workers = new WorkerPool(choices, {
      changed: this.#schedule,
      lost: () => {
        this.#lose();
      },
      cannotStart: (error) => {
        // Each other request would fail after an attempt of its own.
        for (const job of this.#queue.clear()) job.reject(error);
      },
    });
    this.#startable = new Startable(this.#queue, this.#slots, this.#workers);
  }

  /** Starts the first worker. The others start when it has loaded the module. */
  async open(): Promise<void> {
    const features = await this.#workers.open();
    this.#calibration = new Calibration(this.#workers.engines, features, this.#choices.givenLanes);
  }

  /** How the instance works. */
  get configuration(): Configuration {
    const { threads, features, notNative, implementations } = this.#workers;
    const { slots } = this.#choices;
    const { engine, lanes = this.#choices.lanes } = this.#calibration;
    const copies = { features: { ...features }, modules: { ...modules } };
    return { threads, lanes, slots, engine, notNative, implementations, ...copies };
  }

  /** The lanes of all workers together. */
  get lanes(): number {
    return this.#workers.threads * this.#choices.lanes;
  }

  /** The instance's statistics. */
  get stats(): Stats {
    return this.#counters.stats(this.#workers, this.#queue, this.#slots);
  }

  /** Throws the error that a request with so many inputs and bytes would meet. */
  check(inputs: number, signal: AbortSignal | undefined, bytes = 0): void {
    this.#workers.check();
    if (signal?.aborted) throw aborted(signal);
    this.#queue.check(inputs, bytes);
  }

  /** Hashes inputs, in order. Without inputs it only fills the key's cache. */
  async hash<I extends readonly Input[]>(
    request: HashRequest<I>,
    { signal, onProgress }: Follow,
  ): Promise<{ [Index in keyof I]: Uint8Array }> {
    this.check(request.inputs.length, signal);
    const begin = (answer: Answer<Uint8Array[]>): Hashing =>
      new Hashing(request, answer, onProgress);
    return this.#enqueue(begin, signal) as Promise<{ [Index in keyof I]: Uint8Array }>;
  }

  /** Makes a call, and repeats it while the queue is full. */
  whenRoom<T>(signal: AbortSignal | undefined, call: () => Promise<T>): Promise<T> {
    return this.#queue.whenRoom(signal, call);
  }

  /** Hashes inputs without a promise. The caller ends the request and drops it to abort it. */
  begin(...args: ConstructorParameters<typeof Hashing>): Hashing {
    const job = new Hashing(...args);
    this.#add(job);
    return job;
  }

  /** Makes a worker load Monero's rules in the background. */
  loadRules(): void {
    if (this.#hasRules) return;
    this.#hasRules = true;
    this.ask("loadRules", null).catch(() => undefined);
  }

  /** Asks any worker for something that needs no cache. */
  async ask<O extends Question>(
    operation: O,
    args: Args<O>,
    signal?: AbortSignal,
  ): Promise<Result<O>> {
    this.check(0, signal);
    // A worker answers an operation with its own kind of result.
    return this.#enqueue((answer) => new Call(operation, args, answer), signal);
  }

  /** Releases a key's cache when all earlier requests for it are done. */
  async release(key: Uint8Array, signal: AbortSignal | undefined): Promise<void> {
    this.check(0, signal);
    return this.#enqueue((answer: Answer<void>) => new Release(key, answer), signal);
  }

  /** The addresses of the worker's script and of the light client's module, if they were given. */
  get addresses(): Pick<Choices, "workerUrl" | "followWasmUrl"> {
    return this.#choices;
  }

  /** Adds a listener. The end calls it, and waits for its promise. Returns what detaches it. Throws after the end. */
  attach(ended: (error: RandomXError) => unknown): () => void {
    this.#workers.check();
    this.#attached.add(ended);
    return () => this.#attached.delete(ended);
  }

  /** Ends all workers. Waiting and later requests reject. Resolves when the workers and all attached are gone. */
  async close(code: RandomXErrorCode, message: string): Promise<void> {
    this.#keeper.stop();
    const { error, gone } = this.#workers.close(code, message);
    for (const job of this.#queue.clear()) job.reject(error);
    const ends = Array.from(this.#attached, (ended) => ended(error));
    for (const slot of this.#slots.all) this.#slots.empty(slot, { memory: true });
    collect();
    await Promise.all([gone, ...ends]);
  }

  #enqueue<T>(make: (answer: Answer<T>) => Job, signal: AbortSignal | undefined): Promise<T> {
    return new Promise((resolve, reject) => {
      const job = make({ resolve, reject });
      this.#add(job);
      if (!signal) return;
      job.abortWith(signal, () => {
        this.drop(job);
      });
    });
  }

  #add(job: Job): void {
    this.#queue.add(job);
    this.#schedule();
  }

  /** Hands out work after the current calls, so that requests made together share batches. */
  readonly #schedule = (): void => {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      this.#handOut();
    });
  };

  #handOut(): void {
    this.#workers.retryFiller();
    if (this.#startable.behind) this.#workers.startFiller();
    for (const worker of this.#workers.ready()) this.#count(worker, this.#startNext(worker));
    for (const worker of this.#workers.hashing()) this.#count(worker, this.#hashAhead(worker));
    if (this.#queue.waiting.requests > 0) this.#workers.fillUp();
    this.#keeper.watch(this.#queue.first ? Infinity : this.#workers.busy);
  }

  /** Counts a worker's work, and looks for more when it ends. */
  #count(worker: WorkerHandle, work: Promise<void> | undefined): void {
    if (!work) return;
    worker.works += 1;
    void work.finally(() => {
      worker.works -= 1;
      this.#schedule();
    });
  }

  /** Starts an idle worker's next work, if there is any. The promise never rejects. */
  #startNext(worker: WorkerHandle): Promise<void> | undefined {
    const stale = this.#slots.stale(worker, this.#workers.engines[0] === "native");
    if (stale) return this.#forget(worker, stale);
    if (worker === this.#workers.filler) return this.#fillBehind(worker);
    for (;;) {
      const call = this.#queue.firstCall;
      const job = this.#startable.first;
      if (call && !(job && job.place < call.place)) return this.#answer(worker, call);
      if (!job) return this.#keeper.write(worker);
      const slot = this.#slots.of(job.key);
      if (job instanceof Release) {
        this.#release(job, slot);
      } else if (!slot || mustRefill(slot, job)) {
        const free = slot ?? this.#slots.free();
        return free && this.#fill(worker, free, job);
      } else if (job.waiting > 0) {
        return this.#hash(worker, slot, job);
      } else {
        this.#slots.touch(slot);
        this.#queue.remove(job);
        job.filled(1);
        job.take(0, [], 0);
      }
    }
  }

  /** Starts the next fill behind the hashes. */
  #fillBehind(filler: WorkerHandle): Promise<void> | undefined {
    const job = this.#startable.behind;
    const free = job && this.#slots.free();
    // An idle worker, which had no work a moment ago, drops the cache that the slot had.
    if (free) this.#schedule();
    return free && this.#fill(filler, free, job);
  }

  async #answer(worker: WorkerHandle, call: Call): Promise<void> {
    this.#queue.remove(call);
    try {
      call.resolve(await worker.connection.request(call.operation, call.args));
    } catch (thrown) {
      call.reject(asRandomXError(thrown));
    }
  }

  /** Drops the memory of a slot. Workers that know it forget it before their next work. */
  #release(job: Release, slot: Slot | undefined): void {
    this.#queue.remove(job);
    if (slot) this.#slots.empty(slot, { memory: true });
    job.resolve();
    // An idle worker that still holds the cache drops it now.
    this.#schedule();
  }

  async #forget(worker: WorkerHandle, { index }: Slot): Promise<void> {
    worker.caches[index] = undefined;
    // A worker that dies drops its memory.
    await worker.connection.request("release", { slot: index }).catch(() => undefined);
    collect();
  }

  async #fill(worker: WorkerHandle, slot: Slot, job: KeyJob): Promise<void> {
    const [{ key, isFresh }, { count }] = [job, this.#queue];
    this.#slots.use(slot);
    this.#slots.empty(slot, { memory: false });
    Object.assign(slot, { key, filling: worker, filledFor: job.place, isAborted: false });
    const start = performance.now();
    try {
      const { sharedMemory: shared } = this.#workers.features;
      const at = { slot: slot.index };
      slot.memory ??= { shared: await worker.connection.request("allocate", { ...at, shared }) };
      const memory = slot.memory.shared;
      // If the fill fails, the slot is emptied, and `stale` finds that the worker still holds its memory.
      worker.caches[slot.index] = { key, memory, items: undefined };
      // The worker could not end the fill before it began.
      if (slot.isAborted && !this.#queue.firstFor(key))
        throw new RandomXError("aborted", "nobody waits");
      const args = { ...at, key, memory, mayRead: this.#keeper.isWanted && !isFresh, isFresh };
      const filled = await worker.connection.request("fill", args, (done) => {
        // The first request for this key follows the fill. Completion is reported in its turn.
        if (done < 1) this.#queue.firstFor(key)?.filled(done);
      });
      // Each message has another object for the same memory, and `stale` compares objects.
      slot.cache = worker.caches[slot.index] = { ...filled, memory, isFresh };
      if (filled.isKept) slot.keeping = "kept";
      this.#counters.filled(performance.now() - start, filled.isKept ?? false);
    } catch (thrown) {
      const error = asRandomXError(thrown);
      this.#slots.empty(slot, { memory: true });
      if (error.code === "aborted") return;
      // Another worker may do what one died of. Otherwise each would fail after a long attempt of its own.
      const most = error.code === "worker-failed" ? 1 : Infinity;
      for (const job of this.#queue.takeFor(key, count, most)) job.reject(error);
    } finally {
      this.#slots.leave(slot);
      slot.filling = undefined;
    }
  }

  /** Sends a worker the batch after the one that it hashes. In WebAssembly the wait for this thread does not matter. */
  #hashAhead(worker: WorkerHandle): Promise<void> | undefined {
    // A worker without work forgets a stale cache, and answers a request without inputs.
    if (this.#workers.engines[0] !== "native" || this.#slots.stale(worker, true)) return undefined;
    const [call, job] = [this.#queue.firstCall, this.#startable.first];
    const slot = job && this.#slots.of(job.key);
    if (!(job instanceof Hashing) || job.waiting === 0 || job.onTimes || !slot) return undefined;
    const batches = batchesToBeAhead(slot.mode) * this.#workers.started;
    if (this.#queue.waiting.inputs < batches * this.#choices.lanes) return undefined;
    const isNext = !call || job.place < call.place;
    const isHeld = worker.caches[slot.index] === slot.cache;
    return isNext && isHeld && !job.isFresh ? this.#hash(worker, slot, job) : undefined;
  }

  async #hash(worker: WorkerHandle, slot: Slot, head: Hashing): Promise<void> {
    const { cache } = slot;
    if (!cache) return;
    this.#slots.use(slot);
    const before = this.#startable.waiting?.place ?? Infinity;
    const workers = Math.max(1, this.#workers.idle().length);
    const parts = takeBatch(this.#queue, head, { lanes: this.#choices.lanes, workers, before });
    const start = performance.now();
    worker.batches += 1;
    try {
      if (worker.caches[slot.index] !== cache) {
        await worker.connection.request("attach", { slot: slot.index, cache });
        worker.caches[slot.index] = cache;
      }
      const count = await hashBatch(worker.connection, slot, head, parts, this.#calibration);
      const now = performance.now();
      this.#counters.hashed(count, now - Math.max(start, worker.endedAt));
      worker.endedAt = now;
    } catch (thrown) {
      const error = asRandomXError(thrown);
      for (const { job } of parts) {
        this.#queue.remove(job);
        job.reject(error);
      }
    } finally {
      worker.batches -= 1;
      this.#slots.leave(slot);
    }
  }

  /** Removes an aborted request, and ends the fill for its key if no other request waits for it. */
  drop(job: Job): void {
    this.#queue.remove(job);
    this.#schedule();
    if (!(job instanceof Call || this.#queue.firstFor(job.key))) this.#slots.abort(job.key);
  }

  /** Removes a request that is too late. The fill for its key goes on, for later ones. */
  expire(job: Hashing): void {
    this.#queue.remove(job);
    this.#schedule();
    this.#slots.prolong(job.key);
  }

  /** Empties the slots whose memory is gone with a worker. */
  #lose(): void {
    const [engine] = this.#workers.engines;
    for (const slot of this.#slots.all) {
      const { index, cache, filling } = slot;
      // Native caches live as long as a worker holds them.
      const isHeld = filling ?? (cache && this.#workers.holds(index, cache));
      const isGone = engine === "native" ? !isHeld : !this.#workers.features.sharedMemory;
      if (isGone) this.#slots.empty(slot, { memory: true });
    }
  }
}
