/** Promises that a signal ends, and signals for many at once. */
import { aborted, type RandomXError } from "./errors.js";

/** Gives each of many tasks a signal of its own: Node warns of a signal with many listeners. */
export class Signals {
  readonly #running = new Set<AbortController>();

  /** The tasks that have not ended. */
  get size(): number {
    return this.#running.size;
  }

  /** Begins a task. */
  async run<T>(task: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const stop = new AbortController();
    this.#running.add(stop);
    try {
      return await task(stop.signal);
    } finally {
      this.#running.delete(stop);
    }
  }

  /** Aborts all tasks. */
  abort(reason?: unknown): void {
    for (const stop of this.#running) stop.abort(reason);
  }
}

/**
 * Ends a source without waiting for it, because it may hang. A microtask later: an error of the source must not replace
 * the reason for the end.
 */
export function endSource(end: () => unknown): void {
  void Promise.resolve()
    .then(end)
    .catch(() => undefined);
}

/** Resolves like a promise, but rejects as soon as a signal is aborted. */
export async function unlessAborted<T>(
  promise: Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  if (!signal) return promise;
  // After an abort, nothing else handles the promise's rejection.
  promise.catch(() => undefined);
  if (signal.aborted) throw aborted(signal);
  let stop = (): void => undefined;
  const abort = new Promise<never>((_, reject) => {
    stop = () => {
      reject(aborted(signal));
    };
    signal.addEventListener("abort", stop);
  });
  try {
    return await Promise.race([promise, abort]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** An instance, which can end. */
export interface Endable {
  /** Adds a listener, which the end calls. Returns what detaches it. Throws after the end. */
  attach: (ended: (error: RandomXError) => unknown) => () => void;
}

/** Resolves like a promise, but rejects as soon as a signal is aborted or an instance ends. */
export async function unlessEnded<T>(
  promise: Promise<T>,
  signal: AbortSignal | undefined,
  instance: Endable,
): Promise<T> {
  let detach = (): void => undefined;
  const ended = new Promise<never>((_, reject) => {
    detach = instance.attach(reject);
  });
  try {
    return await unlessAborted(Promise.race([ended, promise]), signal);
  } finally {
    detach();
  }
}
