/** The one RandomX of this page: made when it is first needed, and again after it died. */
import { RandomX, RandomXError } from "../wasm/js/index.js";
import type { BlockToVerify, PrepareOptions, Verdict } from "../wasm/js/index.js";

let shared: Promise<RandomX> | undefined;

/** {@link RandomX.verifyBlock}, by the shared instance. */
export async function verifyBlock(block: BlockToVerify, options: PrepareOptions): Promise<Verdict> {
  shared ??= RandomX.create();
  const mine = shared;
  const forget = (): void => {
    if (shared === mine) shared = undefined;
  };
  mine.catch(forget);
  const randomx = await mine;
  try {
    return await randomx.verifyBlock(block, options);
  } catch (error) {
    if (error instanceof RandomXError && error.code === "worker-failed") forget();
    throw error;
  }
}
