/** The measurement of which engine runs programs fastest. */
import type * as wasm from "../pkg/randomx_wasm.js";
import type { Engine } from "./types.js";

/**
 * An engine is clearly faster below this part of the time. Programs are half of a hash, so what it could
 * save otherwise is less than 5 % of that.
 */
const CLEARLY = 0.9;

/**
 * Measurements of each engine. They take turns, and the least time of each counts, because other
 * work only adds to a time: a fill in another worker, or a browser that still optimises.
 */
const ROUNDS = 5;

/** Returns the first of some engines, unless another is clearly faster. */
export function fastest<E extends Engine>(
  { calibrate }: Pick<typeof wasm, "calibrate">,
  engines: readonly E[],
  features: number,
): E {
  const [first] = engines;
  if (!first) throw new Error("there is no engine");
  const least = new Map(engines.map((engine) => [engine, Infinity]));
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [engine, before] of least) {
      least.set(engine, Math.min(before, calibrate(engine === "jit", features, round)));
    }
  }
  let best = first;
  let limit = CLEARLY * (least.get(first) ?? 0);
  for (const [engine, time] of least) {
    if (engine !== first && time < limit) [best, limit] = [engine, time];
  }
  return best;
}
