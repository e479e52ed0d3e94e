/** The slots of an instance, 256 MiB each, and which key's cache each holds. */
import type { KeyJob } from "./job.js";
import type { Cache } from "./protocol.js";
import { equal } from "./bytes.js";
import type { Mode } from "./types.js";
import type { WorkerHandle } from "./worker_pool.js";

/** A place for one key's cache after another. */
export interface Slot {
  /** The number by which workers know it. */
  readonly index: number;
  /** Its memory, once allocated. A lone worker keeps the memory to itself. */
  memory: { shared: WebAssembly.Memory | undefined } | undefined;
  /** The key whose cache is held or being filled. */
  key: Uint8Array | undefined;
  cache: Cache | undefined;
  /**
   * Whether the cache was in the browser's storage when this instance last read or wrote it. If it is
   * `impossible`, it is not written any more.
   */
  keeping: "possible" | "kept" | "impossible";
  /** The mode of the last hash. */
  mode: Mode;
  /** The worker that fills it. */
  filling: WorkerHandle | undefined;
  /** The place in the queue of the request for which it was filled. */
  filledFor: number;
  /** Whether the last request for its fill was aborted. */
  isAborted: boolean;
  /** Whether its fill goes on when nobody waits for it, because a share has expired. */
  isLasting: boolean;
  /** Workers that fill it, keep it or hash with it. */
  users: number;
  /** When a worker last began or stopped to use it, counted in such events. */
  usedAt: number;
}

/** The slots of an instance. */
export class Slots {
  readonly #slots: readonly Slot[];
  #uses = 0;

  constructor(count: number) {
    this.#slots = Array.from({ length: count }, (_, index) => ({
      index,
      memory: undefined,
      key: undefined,
      cache: undefined,
      keeping: "possible",
      mode: "light",
      filling: undefined,
      filledFor: 0,
      isAborted: false,
      isLasting: false,
      users: 0,
      usedAt: 0,
    }));
  }

  /** All slots. */
  get all(): readonly Slot[] {
    return this.#slots;
  }

  /** Returns the slot that holds a key's cache or is being filled with it. */
  of(key: Uint8Array): Slot | undefined {
    return this.#slots.find((slot) => slot.key && equal(slot.key, key));
  }

  /** Returns a slot for another key: an empty one, or else the least recently used idle one. */
  free(): Slot | undefined {
    const [first] = this.#slots
      .filter(({ users }) => users === 0)
      .sort((a, b) => Number(Boolean(a.key)) - Number(Boolean(b.key)) || a.usedAt - b.usedAt);
    return first;
  }

  /** Returns a slot that no longer has what a worker holds. */
  stale({ caches }: WorkerHandle, isNative: boolean): Slot | undefined {
    return this.#slots.find(({ index, memory, cache }) => {
      const held = caches[index];
      // In WebAssembly the slot's next cache is in the same memory, unless that was released.
      return held && (isNative ? held !== cache : !memory || held.memory !== memory.shared);
    });
  }

  /** Ends the fill of a key's cache, if there is one that may end. */
  abort(key: Uint8Array): void {
    const slot = this.of(key);
    if (!slot?.filling || slot.isLasting) return;
    slot.isAborted = true;
    slot.filling.connection.abort();
  }

  /** Makes the fill of a key's cache go on, if there is one, also when nobody waits for it. */
  prolong(key: Uint8Array): void {
    const slot = this.of(key);
    if (slot) slot.isLasting = true;
  }

  /** Counts a worker that starts to use a slot. */
  use(slot: Slot): void {
    slot.users += 1;
    this.touch(slot);
  }

  /** Counts a worker that has stopped using a slot. */
  leave(slot: Slot): void {
    slot.users -= 1;
    this.touch(slot);
  }

  /** Makes a slot the most recently used one. */
  touch(slot: Slot): void {
    slot.usedAt = this.#uses += 1;
  }

  /** Forgets a slot's key and cache, and also its memory if asked to. */
  empty(slot: Slot, { memory }: { memory: boolean }): void {
    slot.key = undefined;
    slot.cache = undefined;
    slot.keeping = "possible";
    slot.isLasting = false;
    slot.mode = "light";
    if (memory) slot.memory = undefined;
  }
}

/** Returns whether a slot's cache must be filled anew for a request. */
export function mustRefill(slot: Slot, { isFresh, place }: KeyJob): boolean {
  return isFresh && slot.filledFor !== place;
}
