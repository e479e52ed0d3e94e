/** Aborting work. `AbortSignal.any`, `timeout` and `throwIfAborted` are newer than the oldest browsers that run RandomX. */

/** Returns a controller that `signal` aborts too. */
export function abortedWith(signal: AbortSignal): AbortController {
  const controller = new AbortController();
  const abort = (): void => {
    controller.abort();
  };
  if (signal.aborted) abort();
  else signal.addEventListener("abort", abort, { once: true, signal: controller.signal });
  return controller;
}

/** Throws the reason of an abort. */
export function throwIfAborted(signal: AbortSignal | null | undefined): void {
  if (signal?.aborted) throw signal.reason;
}
