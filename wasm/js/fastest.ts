/** Measuring which engine runs programs fastest here. */
import type * as wasm from "../pkg/randomx_wasm.js";
import type { Engine } from "./options.js";

/** The part of a time that is clearly less: measurements beside other work are not exact. */
const CLEARLY = 0.8;

/**
 * How often each is measured. They take turns and the least time of each counts, since other work
 * only ever adds to a time: a cache that is filled beside it, or a browser that still optimises.
 */
const ROUNDS = 3;

/** The first of some engines, unless another one is clearly faster. */
export function fastest(
  { calibrate }: Pick<typeof wasm, "calibrate">,
  engines: readonly Engine[],
  features: number,
): Engine {
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
