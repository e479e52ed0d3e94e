/** A program under load. */

/** Minutes that the soak lasts. `npm run test:full` takes the default, a release two hours. */
export const MINUTES = Number(process.env.RANDOMX_SOAK_MINUTES ?? 10);

/** Seconds from the beginning of a round to that of the next one, at least. The full tests leave time to others. */
export const ROUND_SECONDS = Number(process.env.RANDOMX_SOAK_ROUND_SECONDS ?? 0);

/** Inputs of one key and version, in hex. */
export interface Batch {
  key: string;
  version: 1 | 2;
  inputs: readonly string[];
}

/**
 * A fault that interrupts a subject's work: the caller gives up, a worker or a process dies, or a client of
 * the server is slow. Subjects without clients treat the last one like the second.
 */
export type Fault = "abort" | "kill" | "slow";

/** A program under load, and the process that it runs in. */
export interface Subject {
  readonly name: string;
  readonly pid: number;
  /** Hashes a batch. */
  hash: (batch: Batch) => Promise<readonly string[]>;
  /** Begins to hash a batch and causes a fault meanwhile. Resolves to how the work ended. */
  disturb: (fault: Fault, batch: Batch) => Promise<string>;
  /** The number of live workers, if it has some. */
  workers?: () => Promise<number>;
  close: () => Promise<void>;
}

/** How long work runs before a fault, in milliseconds. */
export const MIDDLE = 150;

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
