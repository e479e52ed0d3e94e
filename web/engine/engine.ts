/**
 * The RandomX that Verify and Follow share, created at first use. It replaces lost workers itself, and keeps the last
 * cache for later visits.
 */
import { RandomX } from "../../wasm/js/index.js";

let shared: Promise<RandomX> | undefined;

/** Returns the shared RandomX. After a failure the next call tries again. */
export async function engine(): Promise<RandomX> {
  shared ??= RandomX.create({ keepCache: true }).catch((error: unknown) => {
    shared = undefined;
    throw error;
  });
  return shared;
}
