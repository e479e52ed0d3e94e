/** Which of the waiting requests a worker can start now. */
import { Hashing, Release, type KeyJob } from "./job.js";
import type { Queue } from "./queue.js";
import { mustRefill, type Slots } from "./slots.js";
import type { WorkerPool } from "./worker_pool.js";

/** The requests of a queue that can start. */
export class Startable {
  readonly #queue: Queue;
  readonly #slots: Slots;
  readonly #workers: WorkerPool;

  constructor(queue: Queue, slots: Slots, workers: WorkerPool) {
    this.#queue = queue;
    this.#slots = slots;
    this.#workers = workers;
  }

  /** The first request of a key that a worker can start now. */
  get first(): KeyJob | undefined {
    for (const { head } of this.#queue.lines) {
      const slot = this.#slots.of(head.key);
      if (head instanceof Release || (slot && mustRefill(slot, head))) {
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

  /** The first request that only fills a cache, and can do so behind hashes with other keys. */
  get behind(): KeyJob | undefined {
    return this.#queue.lines.find(({ head }) => this.#isBehind(head))?.head;
  }

  /** The first request that waits for a slot. */
  get waiting(): KeyJob | undefined {
    return this.#queue.lines.find(({ key, head }) => !this.#slots.of(key) && !this.#isBehind(head))
      ?.head;
  }

  #isBehind(job: KeyJob): boolean {
    const { all } = this.#slots;
    if (!this.#workers.canFillBehind || all.length < 2 || !all.some(({ key }) => key)) return false;
    return job instanceof Hashing && job.isOnlyFill && !this.#slots.of(job.key);
  }
}
