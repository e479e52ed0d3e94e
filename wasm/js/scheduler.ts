/**
 * The scheduler of an instance: it hands the requests of the one queue to the workers. A request
 * that needs a cache which is not held waits for a free slot. One worker fills that slot, and the
 * others attach to it. Requests of one key are spread over the workers in batches.
 */
import { takeBatch, type Part } from "./batches.js";
import { Calibration } from "./calibration.js";
import { asRandomXError, aborted, type RandomXError, type RandomXErrorCode } from "./errors.js";
import { collect } from "./garbage.js";
import {
  Call,
  Hashing,
  Release,
  type HashRequest,
  type Job,
  type KeyJob,
  type Question,
} from "./job.js";
import { modules } from "./modules.js";
import type { Choices, Configuration } from "./options.js";
import { newFillCursor } from "./prefault.js";
import type { Args, Hashed, Input, Result } from "./protocol.js";
import { Queue, type Line } from "./queue.js";
import { Slots, type Slot } from "./slots.js";
import { Counters, type Stats } from "./stats.js";
import type { Follow } from "./types.js";
import { WorkerPool, type WorkerHandle } from "./worker_pool.js";

/** Schedules the requests of one instance. */
export class Scheduler {
  readonly #choices: Choices;
  readonly #workers: WorkerPool;
  readonly #slots: Slots;
  readonly #queue: Queue;
  readonly #counters = new Counters();
  #calibration!: Calibration;
  readonly #attached = new Set<(error: RandomXError) => void>();
  #isScheduled = false;
  #hasRules = false;

  constructor(choices: Choices) {
    this.#choices = choices;
    this.#slots = new Slots(choices.slots);
    this.#queue = new Queue(choices.maxQueue);
    this.#workers = new WorkerPool(choices, {
      changed: () => {
        this.#schedule();
      },
      lost: () => {
        this.#lose();
      },
      cannotStart: (error) => {
        const job = this.#queue.first;
        if (!job) return;
        this.#queue.remove(job);
        job.reject(error);
      },
    });
  }

  /** Starts the first worker. The others start when it has loaded the module. */
  async open(): Promise<void> {
    const features = await this.#workers.open();
    this.#calibration = new Calibration(this.#workers.engines, features, this.#choices.lanes);
  }

  /** How the instance works. */
  get configuration(): Configuration {
    const { threads, features, notNative, implementations } = this.#workers;
    const { lanes, slots } = this.#choices;
    const { engine } = this.#calibration;
    const copies = { features: { ...features }, modules: { ...modules } };
    return { threads, lanes, slots, engine, notNative, implementations, ...copies };
  }

  /** What the instance has done and is doing. */
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
    follow: Follow,
  ): Promise<{ [Index in keyof I]: Hashed }> {
    this.check(request.inputs.length, follow.signal);
    const job = new Hashing(request, follow, () => {
      this.#drop(job);
    });
    return this.#enqueue(job) as Promise<{ [Index in keyof I]: Hashed }>;
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
    const call = new Call(operation, args, signal, () => {
      this.#drop(call);
    });
    // A worker answers an operation with its own kind of result.
    return this.#enqueue(call);
  }

  /** Releases a key's cache when all earlier requests for it are done. */
  async release(key: Uint8Array, signal: AbortSignal | undefined): Promise<void> {
    this.check(0, signal);
    const job = new Release(key, signal, () => {
      this.#drop(job);
    });
    return this.#enqueue(job);
  }

  /** The addresses of the worker's script and of the module of Monero's rules, if they were given. */
  get addresses(): Pick<Choices, "workerUrl" | "moneroWasmUrl"> {
    return this.#choices;
  }

  /** Calls a listener when the instance ends. Returns the function that detaches it. */
  attach(ended: (error: RandomXError) => void): () => void {
    this.#attached.add(ended);
    return () => this.#attached.delete(ended);
  }

  /** Ends all workers. Waiting and later requests reject. Resolves when the workers are gone. */
  close(code: RandomXErrorCode, message: string): Promise<void> {
    const { error, gone } = this.#workers.close(code, message);
    for (const job of this.#queue.clear()) job.reject(error);
    for (const ended of this.#attached) ended(error);
    for (const slot of this.#slots.all) this.#slots.empty(slot, { memory: true });
    collect();
    return gone;
  }

  #enqueue<T>(job: Job & { result: Promise<T> }): Promise<T> {
    this.#queue.add(job);
    this.#schedule();
    return job.result;
  }

  /** Hands out work after the current calls, so that requests made together share batches. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      this.#handOut();
    });
  }

  #handOut(): void {
    if (this.#queue.lines.some(({ head }) => this.#isBehind(head))) this.#workers.startFiller();
    for (const worker of this.#workers.ready()) {
      const work = this.#startNext(worker);
      if (!work) continue;
      worker.isBusy = true;
      void work.finally(() => {
        worker.isBusy = false;
        this.#schedule();
      });
    }
    if (this.#queue.waiting.requests > 0) this.#workers.fillUp();
  }

  /** Starts an idle worker's next work, if there is any. The promise never rejects. */
  #startNext(worker: WorkerHandle): Promise<void> | undefined {
    const stale = this.#slots.all.find((slot) => this.#isStale(worker, slot));
    if (stale) return this.#forget(worker, stale);
    if (worker === this.#workers.filler) return this.#fillBehind(worker);
    const prefaulting = this.#prefault(worker);
    if (prefaulting) return prefaulting;
    for (;;) {
      const call = this.#queue.firstCall;
      const job = this.#firstReady();
      if (call && !(job && job.place < call.place)) return this.#answer(worker, call);
      if (!job) return undefined;
      const slot = this.#slots.of(job.key);
      if (job instanceof Release) {
        this.#release(job, slot);
      } else if (!slot) {
        const free = this.#slots.free();
        return free && this.#fill(worker, free, job.key);
      } else if (job.waiting > 0) {
        return this.#hash(worker, slot, job);
      } else {
        this.#queue.remove(job);
        job.filled(1);
        job.take(0, [], 0);
      }
    }
  }

  /** Returns the first request of a key that a worker can start now. */
  #firstReady(): KeyJob | undefined {
    for (const { head } of this.#queue.lines) {
      const slot = this.#slots.of(head.key);
      if (head instanceof Release) {
        if (!slot?.users) return head;
      } else if (!slot) {
        if (this.#isBehind(head)) continue;
        // Nothing overtakes a request that waits for a slot, or it might wait forever.
        return this.#slots.free() && head;
      } else if (slot.cache) {
        return head;
      }
    }
    return undefined;
  }

  /** Tells whether a request only fills a cache, which can wait for hashes with the others. */
  #isBehind(job: KeyJob): boolean {
    const { all } = this.#slots;
    if (!this.#workers.canFillBehind || all.length < 2 || !all.some(({ key }) => key)) return false;
    return job instanceof Hashing && job.isFill && !this.#slots.of(job.key);
  }

  /** Starts the next fill behind the hashes. */
  #fillBehind(filler: WorkerHandle): Promise<void> | undefined {
    const line = this.#queue.lines.find(({ head }) => this.#isBehind(head));
    const free = line && this.#slots.free();
    return free && this.#fill(filler, free, line.key);
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
  }

  /** Whether a worker holds what the slot no longer has. */
  #isStale({ caches }: WorkerHandle, { index, memory, cache }: Slot): boolean {
    const held = caches[index];
    if (!held) return false;
    // In WebAssembly the slot's next cache is in the same memory.
    return this.#workers.engines[0] === "native" ? held !== cache : !memory;
  }

  async #forget(worker: WorkerHandle, { index }: Slot): Promise<void> {
    worker.caches[index] = undefined;
    await worker.connection.request("release", { slot: index }).catch(() => {
      // The worker died, and its memory with it.
    });
    collect();
  }

  async #fill(worker: WorkerHandle, slot: Slot, key: Uint8Array): Promise<void> {
    this.#slots.use(slot);
    this.#slots.empty(slot, { memory: false });
    Object.assign(slot, { key, filling: worker });
    const start = performance.now();
    try {
      const shared = this.#workers.features.sharedMemory;
      const at = { slot: slot.index };
      if (!slot.memory) {
        const memory = await worker.connection.request("allocate", { ...at, shared });
        slot.memory = { shared: memory };
        if (memory) slot.cursor = newFillCursor();
      }
      const args = { ...at, key, memory: slot.memory.shared, cursor: slot.cursor };
      // An idle worker can prefault now.
      this.#schedule();
      const cache = await worker.connection.request("fill", args, (done) => {
        // The first request for this key follows the fill. Completion is reported in its turn.
        if (done < 1) this.#queue.firstFor(key)?.filled(done);
      });
      worker.caches[slot.index] = cache;
      slot.cache = cache;
      this.#counters.filled(performance.now() - start);
    } catch (thrown) {
      const error = asRandomXError(thrown);
      // A worker that was ended may write for another moment.
      this.#slots.empty(slot, { memory: error.code === "worker-failed" });
      const job = this.#queue.firstFor(key);
      if (error.code !== "aborted" && job) {
        this.#queue.remove(job);
        job.reject(error);
      }
    } finally {
      slot.users -= 1;
      slot.filling = undefined;
      slot.cursor = undefined;
    }
  }

  /** Makes an idle worker prefault the memory of a first fill, once for each memory. */
  #prefault({ connection }: WorkerHandle): Promise<void> | undefined {
    const slot = this.#slots.all.find(({ filling, cursor }) => filling && cursor);
    if (!slot?.cursor || !slot.memory?.shared) return undefined;
    const args = { memory: slot.memory.shared, cursor: slot.cursor };
    slot.cursor = undefined;
    return connection.request("prefault", args).then(
      () => undefined,
      // The fill works without it.
      () => undefined,
    );
  }

  async #hash(worker: WorkerHandle, slot: Slot, head: Hashing): Promise<void> {
    const { cache } = slot;
    if (!cache) return;
    this.#slots.use(slot);
    const waits = ({ key, head }: Line): boolean => !this.#slots.of(key) && !this.#isBehind(head);
    const waiting = this.#queue.lines.find(waits);
    const before = waiting?.head.place ?? Infinity;
    const workers = this.#workers.idle().length;
    const parts = takeBatch(this.#queue, head, { lanes: this.#choices.lanes, workers, before });
    const start = performance.now();
    try {
      if (worker.caches[slot.index] !== cache) {
        await worker.connection.request("attach", { slot: slot.index, cache });
        worker.caches[slot.index] = cache;
      }
      const count = await this.#run(worker, slot, head, parts);
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

  /** Makes a worker hash a batch, and returns the number of its inputs. */
  async #run(
    { connection }: WorkerHandle,
    slot: Slot,
    { version, onTimes }: Hashing,
    parts: readonly Part[],
  ): Promise<number> {
    const inputs = parts.flatMap((part) => part.inputs);
    const calibration = this.#calibration;
    const engine = onTimes ? calibration.engine : calibration.next(version, inputs.length);
    const args = { slot: slot.index, version, inputs, engine };
    if (onTimes) onTimes(await connection.request("measure", args));
    const hashed = onTimes ? undefined : await connection.request("hash", args);
    if (hashed) {
      slot.mode = hashed.mode;
      calibration.add(engine, version, inputs.length, hashed.milliseconds);
    }
    const hashes = hashed?.hashes ?? [];
    let at = 0;
    for (const { job, inputs, first } of parts) {
      job.take(first, hashes.slice(at, (at += inputs.length)), inputs.length);
    }
    return inputs.length;
  }

  /** Removes an aborted request, and ends a fill that no other request waits for. */
  #drop(job: Job): void {
    this.#queue.remove(job);
    for (const { key, filling } of this.#slots.all) {
      if (key && filling && !this.#queue.firstFor(key)) filling.connection.abort();
    }
    this.#schedule();
  }

  /** Empties the slots whose memory is gone with a worker. */
  #lose(): void {
    const [engine] = this.#workers.engines;
    for (const slot of this.#slots.all) {
      const { index, cache, filling } = slot;
      // Native caches live as long as a worker holds them.
      const isHeld =
        engine === "native" && (filling ?? (cache && this.#workers.holds(index, cache)));
      const isGone = engine === "native" ? !isHeld : !this.#workers.features.sharedMemory;
      if (isGone) this.#slots.empty(slot, { memory: true });
    }
  }
}
