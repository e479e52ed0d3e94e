/** Measuring which engine runs programs fastest here. */
import type * as wasm from "../pkg/randomx_wasm.js";
import type { Engine } from "./options.js";

/** The part of a time that is clearly less: measurements beside other work are not exact. */
const CLEARLY = 0.8;

/** The first of some engines, unless another one is clearly faster. */
export function fastest(
  { calibrate }: Pick<typeof wasm, "calibrate">,
  engines: readonly Engine[],
  features: number,
): Engine {
  const [first, ...others] = engines;
  if (!first) throw new Error("there is no engine");
  const time = (engine: Engine): number => calibrate(engine === "jit", features);
  let best = { engine: first, limit: CLEARLY * time(first) };
  for (const engine of others) {
    const limit = time(engine);
    if (limit < best.limit) best = { engine, limit };
  }
  return best.engine;
}
