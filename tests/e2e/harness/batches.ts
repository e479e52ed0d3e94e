/** Times small batches just after a key has changed, by each choice of an engine. */
import { RandomX, type CreateOptions } from "../../../wasm/js/index.js";
import { freshInputs } from "./inputs.js";
import { time } from "./measure.js";

/** A choice of the engine. */
export type Choice = "auto" | "jit" | "interpreter";

/** Batches with the first key, after which `auto` knows the faster engine for each size between. */
const WARM_UP = { sizes: [1, 8], batches: 10 };

/** The instances and the inputs, which stay for as long as the page is open. */
let opened: Promise<{ instances: RandomX[]; inputs: (count: number) => Uint8Array[] }> | undefined;

/**
 * Returns the milliseconds of one hash in a batch with a new key, by size, then by choice. The choices
 * take turns, and another one begins in each round.
 */
export async function measureBatches(
  options: CreateOptions,
  choices: Choice[],
  sizes: number[],
  round: number,
): Promise<number[][]> {
  opened ??= open(options, choices);
  const { instances, inputs } = await opened;
  const times = sizes.map(() => choices.map(() => Number.NaN));
  for (const [index, size] of sizes.entries()) {
    for (const turn of choices.keys()) {
      const choice = (turn + round + index) % choices.length;
      const key = Uint8Array.of(round, index, choice);
      const batch = inputs(size);
      await instances[choice]?.prepare(key);
      const ms = await time(async () => instances[choice]?.hashMany(key, batch));
      (times[index] ?? [])[choice] = ms / size;
    }
  }
  return times;
}

async function open(
  options: CreateOptions,
  choices: Choice[],
): Promise<{ instances: RandomX[]; inputs: (count: number) => Uint8Array[] }> {
  const inputs = freshInputs(0);
  const instances: RandomX[] = [];
  for (const engine of choices) {
    const randomx = await RandomX.create({ ...options, engine });
    instances.push(randomx);
    for (const size of WARM_UP.sizes) {
      for (let batch = 0; batch < WARM_UP.batches; batch += 1) {
        await randomx.hashMany("", inputs(size));
      }
    }
  }
  return { instances, inputs };
}
