/** Statistics of an instance. */
import type { Queue, Waiting } from "./queue.js";
import type { Slots } from "./slots.js";
import type { Mode } from "./types.js";
import type { WorkerPool } from "./worker_pool.js";

/** A slot that holds a key's cache or is being filled with it. */
export interface SlotStats {
  /** The key. */
  key: Uint8Array;
  /** Whether the cache is filled. */
  isReady: boolean;
  /** What the last hash read its dataset items from. */
  mode: Mode;
  /** Workers that fill it or hash with it now. */
  workers: number;
}

/** The result of {@link RandomX.stats}. */
export interface Stats {
  /** Workers that have started, and those of them that are working. */
  workers: { started: number; busy: number };
  /** What waits for a worker. */
  queue: Waiting;
  /** Slots in use. */
  slots: SlotStats[];
  /** Bytes of the memories of caches. */
  cacheBytes: number;
  /** Caches filled so far, and the sum of the milliseconds that took. */
  caches: { count: number; milliseconds: number };
  /** Hashes computed so far, and the sum of the milliseconds that workers took for them. */
  hashes: { count: number; milliseconds: number };
}

/** A cache, and a page through which workers pass item numbers. */
const CACHE_BYTES = (1 << 28) + (1 << 16);

/** Counts finished work. */
export class Counters {
  readonly #caches = { count: 0, milliseconds: 0 };
  readonly #hashes = { count: 0, milliseconds: 0 };

  /** Counts a filled cache. */
  filled(milliseconds: number): void {
    this.#caches.count += 1;
    this.#caches.milliseconds += milliseconds;
  }

  /** Counts computed hashes. */
  hashed(count: number, milliseconds: number): void {
    this.#hashes.count += count;
    this.#hashes.milliseconds += milliseconds;
  }

  /** Returns a copy of the counters, with the current state of the instance. */
  stats(workers: WorkerPool, queue: Queue, slots: Slots): Stats {
    const { started } = workers;
    const held = slots.all.flatMap(({ key, cache, mode, users }) =>
      key ? [{ key: key.slice(), isReady: cache !== undefined, mode, workers: users }] : [],
    );
    return {
      workers: { started, busy: started - workers.idle().length },
      queue: queue.waiting,
      slots: held,
      cacheBytes: slots.all.filter(({ memory }) => memory).length * CACHE_BYTES,
      caches: { ...this.#caches },
      hashes: { ...this.#hashes },
    };
  }
}
