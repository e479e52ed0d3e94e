/** The one RandomX of this page: made when it is first needed, and kept; it replaces lost workers. */
import { RandomX } from "../wasm/js/index.js";
import type { BlockToVerify, PrepareOptions, Verdict } from "../wasm/js/index.js";

let shared: Promise<RandomX> | undefined;

/** {@link RandomX.verifyBlock}, by the shared instance. */
export async function verifyBlock(block: BlockToVerify, options: PrepareOptions): Promise<Verdict> {
  shared ??= RandomX.create().catch((error: unknown) => {
    // The next call tries again.
    shared = undefined;
    throw error;
  });
  const randomx = await shared;
  return randomx.verifyBlock(block, options);
}
