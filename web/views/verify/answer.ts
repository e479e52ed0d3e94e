/** The package's answer about a block. */
import type { BlockStatus, Check } from "../../../wasm/js/index.js";

/** The package's answer for a single block or one of a chain. */
export interface Answer {
  status: BlockStatus;
  valid: boolean;
  hash: Uint8Array | null;
  id: Uint8Array | null;
  height: number | null;
  checks: Check[];
}

/** Returns whether the bytes are a block or a hashing blob. If not, the answer's height is only the sender's claim. */
export function isBlock({ checks }: Answer): boolean {
  return checks.some(({ name, passed }) => name === "block" && passed === true);
}

/** Returns the block's height, or `null` if it is unknown. */
export function heightOf(answer: Answer): number | null {
  return isBlock(answer) ? answer.height : null;
}
