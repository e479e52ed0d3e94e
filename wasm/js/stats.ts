/** Statistics of an instance. */
import type { Queue } from "./queue.js";
import type { Slots } from "./slots.js";
import type { Mode, Waiting } from "./types.js";
import type { WorkerPool } from "./worker_pool.js";

/** A slot that holds a key's cache or is being filled with it. */
export interface SlotStats {
  /** The key. */
  key: Uint8Array;
  /** Whether the cache is filled. */
  isReady: boolean;
  /** Whether the cache was in the browser's storage when this instance last read or wrote it; see `keepCache`. */
  isKept: boolean;
  /** The mode of the last hash. */
  mode: Mode;
  /** Workers that fill it, keep it or hash with it now. */
  workers: number;
}

/** The result of {@link RandomX.stats}. */
export interface Stats {
  /** Workers that have started, and those of them that are working. */
  workers: { started: number; busy: number };
  /** The work that waits for a worker. */
  queue: Waiting;
  /** Slots in use. */
  slots: SlotStats[];
  /** Bytes of the memories of caches. */
  cacheBytes: number;
  /**
   * Caches filled or read so far; `read` of them came from the browser's storage. `milliseconds` is the
   * time that all took.
   */
  caches: { count: number; read: number; milliseconds: number };
  /** Hashes computed so far, and the sum of the milliseconds that workers took for them. */
  hashes: { count: number; milliseconds: number };
}

/** A cache, and a page through which workers pass item numbers. */
const CACHE_BYTES = (1 << 28) + (1 << 16);

/** @internal Counts finished work. */
export class Counters {
  readonly #caches = { count: 0, read: 0, milliseconds: 0 };
  readonly #hashes = { count: 0, milliseconds: 0 };

  /** Counts a cache that was filled, or read from the browser's storage. */
  filled(milliseconds: number, wasRead: boolean): void {
    this.#caches.count += 1;
    if (wasRead) this.#caches.read += 1;
    this.#caches.milliseconds += milliseconds;
  }

  /** Counts computed hashes. */
  hashed(count: number, milliseconds: number): void {
    this.#hashes.count += count;
    this.#hashes.milliseconds += milliseconds;
  }

  /** Returns a copy of the counters, with the current state of the instance. */
  stats(workers: WorkerPool, queue: Queue, slots: Slots): Stats {
    const held = slots.all.flatMap(({ key, cache, keeping, mode, users }) => {
      if (!key) return [];
      const isKept = keeping === "kept";
      return [{ key: key.slice(), isReady: cache !== undefined, isKept, mode, workers: users }];
    });
    return {
      workers: { started: workers.started, busy: workers.busy },
      queue: queue.waiting,
      slots: held,
      cacheBytes: slots.all.filter(({ memory }) => memory).length * CACHE_BYTES,
      caches: { ...this.#caches },
      hashes: { ...this.#hashes },
    };
  }
}
