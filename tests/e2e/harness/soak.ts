/** A long run in one tab, in steps; between them the test examines the browser. */
import { RandomX } from "../../../wasm/js/index.js";
import { toHex } from "./hex.js";
import type { Batch } from "./vectors.js";
import { liveWorkers } from "./workers.js";

let instance: RandomX | undefined;

/** Hashes a batch with the run's instance, which the first step creates. */
export async function soak(
  threads: number,
  { key, version, inputs }: Batch,
): Promise<{ hashes: string[]; workers: number }> {
  instance ??= await RandomX.create({ threads });
  const hashes = await instance.hashMany(key, inputs, { version });
  return { hashes: hashes.map(toHex), workers: liveWorkers() };
}
