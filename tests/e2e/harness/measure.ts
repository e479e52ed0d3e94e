/** What the benchmarks time inside a browser. */
import { toHex } from "./hex.js";
import type { Configuration, CreateOptions, Times as Phases } from "../../../wasm/js/index.js";
import { withInstance } from "./instance.js";
import { freshInputs } from "./inputs.js";

/** A batch whose hashes are timed. */
export interface Load {
  version: 1 | 2;
  count: number;
}

/** Milliseconds, and how the instance that took them was set up in the end. */
export interface Times {
  configuration: Configuration;
  /** From the call of `create` until it resolves. */
  create: number;
  /** A cache from its key. */
  cache: number;
  /** One hash of each load. */
  hashes: number[];
  /** What one hash of a batch of 24 is made of, by version. */
  phases: Phases[];
  /** The hash, in hex, that comes first with each version: a fast one that is wrong is none. */
  first: string[];
}

/** What is hashed before the clock starts, so that browsers have optimised what runs often. */
const WARM_UP = 16;

/** Hashes whose phases are told. */
const PHASED = 24;

/** Times an instance; rounds differ in what they hash. */
export async function measure(
  options: CreateOptions,
  loads: Load[],
  round: number,
): Promise<Times> {
  const key = Uint8Array.of(round);
  const inputs = freshInputs(round);
  const start = performance.now();
  return withInstance(options, async (randomx) => {
    const create = performance.now() - start;
    const cache = await time(() => randomx.prepare(key));
    const hashes: number[] = [];
    const first: string[] = [];
    const phases: Phases[] = [];
    for (const version of new Set(loads.map(({ version }) => version))) {
      const warmUp = await randomx.hashMany(key, inputs(WARM_UP), { version });
      first.push(...warmUp.slice(0, 1).map(toHex));
      for (const load of loads.filter((load) => load.version === version)) {
        const ms = await time(() => randomx.hashMany(key, inputs(load.count), { version }));
        hashes[loads.indexOf(load)] = ms / load.count;
      }
      const sums = await randomx.measure(key, inputs(PHASED), { version });
      const each = Object.entries(sums).map(([phase, ms]) => [phase, (ms as number) / PHASED]);
      phases.push(Object.fromEntries(each) as Phases);
    }
    return { configuration: randomx.configuration, create, cache, hashes, phases, first };
  });
}

/** The milliseconds that a promise takes. */
export async function time(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** Leaves an instance that is ready and has hashed, for as long as the page is open. */
export async function hold(options: CreateOptions): Promise<void> {
  const inputs = Array.from({ length: 8 }, (_, index) => Uint8Array.of(index));
  await new Promise<void>((resolve, reject) => {
    void withInstance(options, async (randomx) => {
      await randomx.hashMany("00", inputs);
      resolve();
      await new Promise(() => undefined);
    }).catch(reject);
  });
}
