/**
 * The RandomX that Verify and Follow share, created at first use. It replaces lost workers itself, and keeps the last
 * cache for later visits.
 */
import { unlessAborted } from "../../wasm/js/abort.js";
import { RandomX } from "../../wasm/js/index.js";

let shared: Promise<RandomX> | undefined;

/** Returns the shared RandomX, unless a signal is aborted before it has started. After a failure the next call tries again. */
export async function engine(signal?: AbortSignal): Promise<RandomX> {
  shared ??= RandomX.create({ keepCache: true }).catch((error: unknown) => {
    shared = undefined;
    throw error;
  });
  return unlessAborted(shared, signal);
}
