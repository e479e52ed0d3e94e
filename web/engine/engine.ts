/** The one RandomX of this page: made when it is first needed, and kept; it replaces lost workers. */
import { RandomX } from "../../wasm/js/index.js";

let shared: Promise<RandomX> | undefined;

/** The page's RandomX. A call after one that failed tries again. */
export async function engine(): Promise<RandomX> {
  shared ??= RandomX.create().catch((error: unknown) => {
    shared = undefined;
    throw error;
  });
  return shared;
}
