/** A follower's hashes, which go through the queue of its `RandomX` instance. */
import { Signals } from "../abort.js";
import { asRandomXError, type RandomXError } from "../errors.js";
import type { Scheduler } from "../scheduler.js";
import type { HashJob } from "./protocol.js";

/** The listeners of a follower. */
export interface HashListener {
  hashed: (job: number, hash: Uint8Array) => void;
  /** Hashes could not be computed. */
  failed: (jobs: readonly number[], error: RandomXError) => void;
}

/** Hashes in order, with so many requests at a time that other calls get their turn. */
export class Hashing {
  readonly #scheduler: Scheduler;
  readonly #listener: HashListener;
  readonly #running = new Signals();
  #waiting: HashJob[] = [];

  constructor(scheduler: Scheduler, listener: HashListener) {
    this.#scheduler = scheduler;
    this.#listener = listener;
  }

  /** Adds hashes to compute. */
  add(jobs: readonly HashJob[]): void {
    this.#waiting.push(...jobs);
    this.#start();
  }

  /** Aborts all hashes. */
  close(): void {
    this.#waiting = [];
    this.#running.abort();
  }

  #start(): void {
    while (this.#running.size < 2 * this.#scheduler.lanes) {
      const job = this.#waiting.shift();
      if (!job) return;
      const hashing = this.#running.run((signal) => this.#hash(job, signal));
      void hashing.finally(() => {
        this.#start();
      });
    }
  }

  async #hash(job: HashJob, signal: AbortSignal): Promise<void> {
    const request = {
      key: job.seedHash,
      version: 1,
      inputs: [{ bytes: job.blob }],
      isFresh: job.fresh,
    } as const;
    try {
      const [hash] = await this.#scheduler.whenRoom(signal, () =>
        this.#scheduler.hash(request, { signal }),
      );
      if (!signal.aborted) this.#listener.hashed(job.job, hash);
    } catch (thrown) {
      if (signal.aborted) return;
      // The next ones would fail for the same reason, each after a long attempt.
      const failed = [job, ...this.#waiting.splice(0)];
      this.#listener.failed(
        failed.map(({ job }) => job),
        asRandomXError(thrown),
      );
    }
  }
}
