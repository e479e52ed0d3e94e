/** What waits for workers, in order, and how much of it there may be. */
import { RandomXError } from "./errors.js";
import { Hashing, equal, type Job } from "./job.js";

/** The most bytes of keys and inputs that may wait: 256 MiB. */
const MAX_BYTES = 1 << 28;

/** How much waits. */
export interface Waiting {
  /** Calls. */
  requests: number;
  /** Inputs that no worker has yet. */
  inputs: number;
  /** Bytes of keys and inputs. */
  bytes: number;
}

/** A bounded queue. */
export class Queue {
  readonly #limit: number;
  readonly #jobs = new Set<Job>();
  #bytes = 0;
  #inputs = 0;

  /** With the most inputs that may wait. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** What waits, from the first. What is removed meanwhile is not met. */
  get jobs(): Iterable<Job> {
    return this.#jobs;
  }

  /** How much waits. */
  get waiting(): Waiting {
    return { requests: this.#jobs.size, inputs: this.#inputs, bytes: this.#bytes };
  }

  /** Throws `queue-full` where so many more are too many. */
  check(inputs: number, bytes = 0): void {
    if (this.#inputs + inputs > this.#limit) {
      throw new RandomXError(
        "queue-full",
        `the queue: ${this.#inputs} inputs wait, ${inputs} more are over the limit of ${this.#limit}`,
      );
    }
    if (this.#bytes + bytes > MAX_BYTES) {
      throw new RandomXError(
        "queue-full",
        `the queue: ${this.#bytes} bytes wait, ${bytes} more are over the limit of ${MAX_BYTES}`,
      );
    }
  }

  /** Puts a job at the end. */
  add(job: Job): void {
    if (job instanceof Hashing) {
      this.check(job.waiting, job.bytes);
      this.#inputs += job.waiting;
      this.#bytes += job.bytes;
    } else if (this.#jobs.size >= this.#limit) {
      throw new RandomXError("queue-full", `the queue: ${this.#limit} calls wait already`);
    }
    this.#jobs.add(job);
  }

  /** Takes the next inputs of a job, at most so many; one without any leaves the queue. */
  handOut(job: Hashing, most: number): ReturnType<Hashing["handOut"]> {
    const handedOut = job.handOut(most);
    this.#inputs -= handedOut.inputs.length;
    if (job.waiting === 0) this.remove(job);
    return handedOut;
  }

  /** Takes a job out, if it is still here. */
  remove(job: Job): void {
    if (!this.#jobs.delete(job) || !(job instanceof Hashing)) return;
    this.#inputs -= job.waiting;
    this.#bytes -= job.bytes;
  }

  /** Takes out all. */
  clear(): Job[] {
    const jobs = [...this.#jobs];
    for (const job of jobs) this.remove(job);
    return jobs;
  }

  /** The first job that waits for a key's cache. */
  firstFor(key: Uint8Array): Hashing | undefined {
    for (const job of this.#jobs) {
      if (job instanceof Hashing && equal(job.key, key)) return job;
    }
    return undefined;
  }
}
