/** Inputs that are hashed together, of one job or of several that agree. */
import { Hashing, equal } from "./job.js";
import type { Input } from "./protocol.js";
import type { Queue } from "./queue.js";
import type { Slots } from "./slots.js";

/** A part of a batch: inputs of one job, and where their hashes belong. */
export interface Part {
  job: Hashing;
  inputs: readonly Input[];
  first: number;
}

/** Takes batches out of a queue. */
export class Batches {
  readonly #queue: Queue;
  readonly #slots: Slots;
  readonly #lanes: number;

  constructor(queue: Queue, slots: Slots, lanes: number) {
    this.#queue = queue;
    this.#slots = slots;
    this.#lanes = lanes;
  }

  /** The next inputs of a job and of those after it that agree, for one of some idle workers. */
  take(head: Hashing, workers: number): Part[] {
    head.batch ??= head.onTimes ? head.waiting : this.#size(head, workers);
    const parts: Part[] = [];
    let room = head.batch;
    for (const job of this.#alike(head)) {
      job.filled(1);
      const part = { job, ...this.#queue.handOut(job, room) };
      parts.push(part);
      room -= part.inputs.length;
      if (room === 0) break;
    }
    return parts;
  }

  /** Such that idle workers are done at the same time, with no more batches than it takes. */
  #size(head: Hashing, workers: number): number {
    let inputs = 0;
    for (const job of this.#alike(head)) inputs += job.waiting;
    const rounds = Math.ceil(inputs / (workers * this.#lanes));
    return Math.ceil(inputs / (workers * rounds));
  }

  /**
   * The jobs that agree with one, from it on, up to the first that they must not overtake: one
   * that waits for a slot, or for this one.
   */
  *#alike(head: Hashing): Iterable<Hashing> {
    if (head.onTimes) {
      yield head;
      return;
    }
    let isPast = false;
    for (const job of this.#queue.jobs) {
      isPast ||= job === head;
      if (!isPast) continue;
      if (job instanceof Hashing && isAlike(job, head)) {
        if (job.waiting > 0) yield job;
      } else if (!("key" in job) || equal(job.key, head.key) || !this.#slots.of(job.key)) {
        return;
      }
    }
  }
}

/** Whether inputs of two jobs can be hashed together. */
function isAlike(a: Hashing, b: Hashing): boolean {
  return a === b || (a.version === b.version && !a.onTimes && !b.onTimes && equal(a.key, b.key));
}
