import type { MoneroNode, RandomX } from "../../../wasm/js/index.js";

/** Suffers an attack, and returns the number of calls that had an answer all the same. */
export function attackedBy(
  used: { MoneroNode: typeof MoneroNode; randomx: RandomX },
  address: string,
): Promise<number>;
