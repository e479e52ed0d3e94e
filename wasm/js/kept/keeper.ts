/** Lets idle workers write caches to the browser's storage, when the instance has been idle for a while. */
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
  /** The worker that has the file. */
  #writer: WorkerHandle | undefined;
  /** Whether it writes at this moment. */
  #isWriting = false;

  /** `wake` is called when the instance has been idle for long enough. */
  constructor(isWanted: boolean, slots: Slots, wake: () => void) {
    this.isWanted = isWanted && hasStorage();
    this.#slots = slots;
    this.#wake = wake;
  }

  /** Takes note of how many workers have work, or will have some. */
  watch(busy: number): void {
    if (!this.isWanted) return;
    const writing = this.#isWriting ? 1 : 0;
    if (busy > writing || !this.#slots.all.some(canKeep)) {
      this.stop();
    } else if (!this.#isRested) {
      this.#timer ??= setTimeout(() => {
        this.#isRested = true;
        this.#wake();
      }, REST_MS);
    }
  }

  /** Writes nothing until the instance has been idle for long enough again. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#isRested = false;
  }

  /** Makes an idle worker write some more of a cache, if it is time for that. The promise never rejects. */
  write(worker: WorkerHandle): Promise<void> | undefined {
    if (!this.#isRested || (this.#writer && this.#writer !== worker)) return undefined;
    const slot = this.#slots.all.find(
      (each) => canKeep(each) && worker.caches[each.index] === each.cache,
    );
    if (!slot?.key || !slot.memory) return undefined;
    const args = { slot: slot.index, key: slot.key, memory: slot.memory.shared };
    this.#writer = worker;
    this.#isWriting = true;
    this.#slots.use(slot);
    const written = worker.connection.request("keep", args).then(
      (part) => {
        if (part === 1) this.#end(slot, "kept");
        // Without room, or while another page writes its own, the cache serves this visit only.
        if (part === null) this.#end(slot, "impossible");
      },
      () => {
        // The worker died, and the next one might die of the same cause.
        this.#end(slot, "impossible");
      },
    );
    return written.finally(() => {
      this.#isWriting = false;
      this.#slots.leave(slot);
    });
  }

  /** Takes note of a worker that is gone, with what it was writing. */
  lose(): void {
    this.#writer = undefined;
  }

  #end(slot: Slot, keeping: Slot["keeping"]): void {
    slot.keeping = keeping;
    this.#writer = undefined;
  }
}

function canKeep({ cache, keeping }: Slot): boolean {
  return cache !== undefined && keeping === "possible";
}
