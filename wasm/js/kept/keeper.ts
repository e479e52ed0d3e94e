/** Lets an idle worker write the last key's cache to the browser's storage, when the instance has been idle for a while. */
import type { Slot, Slots } from "../slots.js";
import type { WorkerHandle } from "../worker_pool.js";
import { hasStorage } from "./storage.js";

/** How long an instance is idle before it writes a cache, in milliseconds. */
const REST_MS = 2000;

/** Watches an instance, and writes its caches. */
export class Keeper {
  /** Whether caches are to be kept, and there is a place for them. */
  readonly isWanted: boolean;
  readonly #slots: Slots;
  readonly #wake: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isRested = false;
  /** The worker that writes. */
  #writer: WorkerHandle | undefined;

  /** `wake` is called when the instance has been idle for long enough. */
  constructor(isWanted: boolean, slots: Slots, wake: () => void) {
    this.isWanted = isWanted && hasStorage();
    this.#slots = slots;
    this.#wake = wake;
  }

  /** Receives how many workers are busy. If one beside the writer is, the writing ends. */
  watch(busy: number): void {
    if (!this.isWanted) return;
    if (busy > (this.#writer ? 1 : 0)) {
      this.stop();
    } else if (!this.#writer && this.#candidate()) {
      this.#timer ??= setTimeout(() => {
        this.#isRested = true;
        this.#wake();
      }, REST_MS);
    }
  }

  /** Ends the writing. It begins again when the instance has been idle for long enough. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#isRested = false;
    this.#writer?.connection.abort();
  }

  /** Makes an idle worker write a cache, if it is time for that. The promise never rejects. */
  write(worker: WorkerHandle): Promise<void> | undefined {
    const slot = this.#isRested && !this.#writer ? this.#candidate() : undefined;
    if (!slot?.key || !slot.memory || worker.caches[slot.index] !== slot.cache) return undefined;
    const isFresh = slot.cache?.isFresh;
    const args = { slot: slot.index, key: slot.key, memory: slot.memory.shared, isFresh };
    this.#writer = worker;
    // It must stay, but is not used: another slot may be the last used one.
    slot.users += 1;
    return worker.connection
      .request("keep", args)
      .then(
        (written) => {
          if (written === "kept") this.#replace(slot);
          if (written === "impossible") slot.keeping = "impossible";
        },
        () => {
          // The worker died, and the next one might die of the same cause.
          slot.keeping = "impossible";
        },
      )
      .finally(() => {
        slot.users -= 1;
        this.#writer = undefined;
        this.stop();
      });
  }

  /**
   * Returns the slot whose cache is to be written: the last used one, if that has not been tried, or one with a
   * fresh cache, because the file may hold a wrong one.
   */
  #candidate(): Slot | undefined {
    return this.#slots.all
      .filter(({ cache }) => cache !== undefined)
      .sort((a, b) => b.usedAt - a.usedAt)
      .find(({ keeping, cache }, at) => keeping === "possible" && (at === 0 || cache?.isFresh));
  }

  /**
   * Marks the cache that the storage has now. The cache that it replaced is not written again: two keys that are used
   * in turn would be written again and again.
   */
  #replace(kept: Slot): void {
    for (const slot of this.#slots.all) {
      if (slot.keeping === "kept") slot.keeping = "impossible";
    }
    kept.keeping = "kept";
  }
}
