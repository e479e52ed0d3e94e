/** Times the package inside a browser, for the benchmarks. */
import { toHex } from "./hex.js";
import type { Configuration, CreateOptions, Times as Phases } from "../../../wasm/js/index.js";
import { withInstance } from "./instance.js";
import { freshInputs } from "./inputs.js";

/** A batch to time. */
export interface Load {
  version: 1 | 2;
  count: number;
}

/** Times in milliseconds, and the configuration of the instance. */
export interface Times {
  configuration: Configuration;
  /** From the call of `create` until it resolves. */
  create: number;
  /** Filling a cache. */
  cache: number;
  /** One hash of each load's batch. */
  hashes: number[];
  /** The phases of one hash in a batch of 24, by version. */
  phases: Phases[];
  /** The first hash of each version, in hex, so that a fast wrong hash is noticed. */
  first: string[];
}

/** Hashes before the clock starts, so that the browser has optimised the hot code. */
const WARM_UP = 16;

/** Hashes in the batch whose phases are measured. */
const PHASED = 24;

/** Times an instance. Each round has other inputs. */
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

/** Returns the milliseconds until a promise settles. */
export async function time(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** Creates an instance that has hashed and stays for as long as the page is open. */
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
