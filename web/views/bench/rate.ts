/** Measures the rate of hashing over time. */
import { RandomX, type Engine, type Times } from "../../../wasm/js/index.js";
import { nativeHash } from "../../engine/native.js";
import { abortedWith } from "../../shell/abort.js";
import type { Settings } from "./settings.js";

/** The rate of a build. */
export interface Rate {
  /** Hashes per second in each window of time, by the seconds since the start. */
  points: (readonly [seconds: number, rate: number])[];
  /** Hashes per second over the whole time. */
  mean: number;
}

/** The measurement of the browser's build. */
export interface Browser {
  version: 1 | 2;
  rate: Rate;
  engine: Engine;
  threads: number;
  lanes: number;
  /** Milliseconds to fill a cache. */
  cache: number;
  /** Milliseconds of a hash on one thread, by phase. */
  phases: Times;
}

/** How a caller observes and stops a measurement. */
export interface Observer {
  signal: AbortSignal;
  onRate: (rate: Rate) => void;
}

const KEY = "72616e646f6d78";

/** The length of a Monero hashing blob, and the position of its nonce. */
const INPUT_BYTES = 76;
const NONCE = 39;

/** The least time between two points, in milliseconds. */
const WINDOW_MS = 500;

/** Inputs of one request to the server, which may end before all are hashed. */
const REQUEST = 4096;

/** Measures this browser's build. */
export async function measureBrowser(settings: Settings, observer: Observer): Promise<Browser> {
  const { signal } = observer;
  const { engine, version } = settings;
  const asked = { engine, threads: settings.threads, lanes: settings.lanes };
  const randomx = await RandomX.create({ ...asked, signal });
  try {
    const start = performance.now();
    await randomx.prepare(KEY, { signal });
    const cache = performance.now() - start;
    const { threads, lanes } = randomx.configuration;
    const batch = threads * lanes;
    // Lets the browser optimise hot code, and `auto` choose an engine, before the clock starts.
    await randomx.hashMany(KEY, inputs(0, 2 * batch), { version, signal });
    const meter = new Meter(observer.onRate);
    for (let nonce = 2 * batch; meter.elapsed < 1000 * settings.seconds; nonce += batch) {
      await randomx.hashMany(KEY, inputs(nonce, batch), { version, signal });
      meter.count(batch);
    }
    // One hash a lane, since more would share a pass over their scratchpads.
    const times = await randomx.measure(KEY, inputs(0, lanes), { version, signal });
    const phases = Object.entries(times) as [keyof Times, number][];
    return {
      version,
      rate: meter.rate,
      engine: randomx.configuration.engine,
      threads,
      lanes,
      cache,
      phases: Object.fromEntries(
        phases.map(([phase, ms]) => [phase, ms / lanes]),
      ) as unknown as Times,
    };
  } finally {
    randomx.dispose();
  }
}

/** Measures the native build, in light mode too. */
export async function measureNative(settings: Settings, observer: Observer): Promise<Rate> {
  const { version, engine, threads, lanes, seconds } = settings;
  const job = { key: KEY, version, engine, mode: "light", threads, lanes } as const;
  let meter: Meter | undefined;
  for (let nonce = 0; (meter?.elapsed ?? 0) < 1000 * seconds; nonce += REQUEST) {
    const enough = abortedWith(observer.signal);
    try {
      await nativeHash(
        { ...job, inputs: inputs(nonce, REQUEST) },
        () => {
          meter?.count(1);
          if (meter && meter.elapsed > 1000 * seconds) enough.abort();
        },
        {
          signal: enough.signal,
          onProgress: ({ phase, done }) => {
            // The clock starts when the cache is filled.
            if (phase === "cache" && done === 1) meter ??= new Meter(observer.onRate);
          },
        },
      );
    } catch (thrown) {
      if (!enough.signal.aborted || observer.signal.aborted) throw thrown;
    }
  }
  return meter?.rate ?? { points: [], mean: 0 };
}

/** Counts hashes over time. */
class Meter {
  readonly #onRate: (rate: Rate) => void;
  readonly #start = performance.now();
  readonly #points: [number, number][] = [];
  #done = 0;
  #window = { start: this.#start, done: 0 };
  #end = this.#start;

  constructor(onRate: (rate: Rate) => void) {
    this.#onRate = onRate;
  }

  get elapsed(): number {
    return performance.now() - this.#start;
  }

  get rate(): Rate {
    const time = this.#end - this.#start;
    return { points: [...this.#points], mean: time > 0 ? (1000 * this.#done) / time : 0 };
  }

  count(hashes: number): void {
    this.#done += hashes;
    this.#window.done += hashes;
    this.#end = performance.now();
    const passed = this.#end - this.#window.start;
    if (passed < WINDOW_MS) return;
    const seconds = (this.#end - this.#start) / 1000;
    this.#points.push([seconds, (1000 * this.#window.done) / passed]);
    this.#window = { start: this.#end, done: 0 };
    this.#onRate(this.rate);
  }
}

/** Makes inputs in hex that differ in their nonces. */
function inputs(first: number, count: number): string[] {
  const before = "5a".repeat(NONCE);
  const after = "5a".repeat(INPUT_BYTES - NONCE - 4);
  return Array.from({ length: count }, (_, index) => {
    const nonce = ((first + index) >>> 0).toString(16).padStart(8, "0");
    return before + nonce + after;
  });
}
