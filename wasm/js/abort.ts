/** Promises that a signal ends. */
import { aborted } from "./errors.js";

/** Resolves like a promise, but rejects as soon as a signal is aborted. */
export async function unlessAborted<T>(
  promise: Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  if (!signal) return promise;
  // Whoever gives up on a promise does not hear of its failure.
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
