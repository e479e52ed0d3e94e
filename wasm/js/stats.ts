/** What an instance has done, and is at. */
import type { Crew } from "./crew.js";
import type { Queue, Waiting } from "./queue.js";
import type { Slots } from "./slots.js";

/** A slot that holds a key's cache, or is being filled with it. */
export interface SlotStats {
  /** The key. */
  key: Uint8Array;
  /** Whether the cache can be hashed with. */
  isReady: boolean;
  /** Workers that fill it or hash with it now. */
  workers: number;
}

/** What {@link RandomX.stats} tells. */
export interface Stats {
  /** Workers that have started, and those of them that are at work. */
  workers: { started: number; busy: number };
  /** What waits for a worker. */
  queue: Waiting;
  /** Slots in use. */
  slots: SlotStats[];
  /** Bytes of the memories of caches. */
  cacheBytes: number;
  /** Caches that were filled, and the milliseconds that took, altogether. */
  caches: { count: number; milliseconds: number };
  /** Hashes that were computed, and the milliseconds that workers took for them, altogether. */
  hashes: { count: number; milliseconds: number };
}

/** A cache, and a page in which workers hand over item numbers. */
const CACHE_BYTES = (1 << 28) + (1 << 16);

/** Counts what is done. */
export class Counters {
  readonly #caches = { count: 0, milliseconds: 0 };
  readonly #hashes = { count: 0, milliseconds: 0 };

  /** Whether anything was hashed. */
  get hasHashed(): boolean {
    return this.#hashes.count > 0;
  }

  /** A cache was filled. */
  filled(milliseconds: number): void {
    this.#caches.count += 1;
    this.#caches.milliseconds += milliseconds;
  }

  /** Inputs were hashed. */
  hashed(count: number, milliseconds: number): void {
    this.#hashes.count += count;
    this.#hashes.milliseconds += milliseconds;
  }

  /** A copy of all, with what the parts of an instance are at. */
  stats(crew: Crew, queue: Queue, slots: Slots): Stats {
    const { started } = crew;
    const held = slots.all.flatMap(({ key, cache, users }) =>
      key ? [{ key: key.slice(), isReady: cache !== undefined, workers: users }] : [],
    );
    return {
      workers: { started, busy: started - crew.idle().length },
      queue: queue.waiting,
      slots: held,
      cacheBytes: slots.all.filter(({ memory }) => memory).length * CACHE_BYTES,
      caches: { ...this.#caches },
      hashes: { ...this.#hashes },
    };
  }
}
