/** How an instance works: what a caller may choose, and what became of it. */
import { processors } from "./environment.js";
import { invalidArgument } from "./errors.js";
import * as validate from "./validate.js";

/** What runs programs: WebAssembly that is made for each of them, or the interpreter. */
export type Engine = "jit" | "interpreter";

/** What is made use of where it is found, and differs between browsers. */
export interface Features {
  /** Relaxed SIMD whose multiply-and-add rounds once. */
  fusedMultiplyAdd: boolean;
  /** Products of 128 bits. */
  wideArithmetic: boolean;
  /** Memory that threads share; in browsers only of pages that are cross-origin isolated. */
  sharedMemory: boolean;
}

/** How {@link RandomX.create} sets an instance up. The defaults are what is fastest. */
export interface CreateOptions {
  /**
   * Workers that hash, 1 to 24, over one cache. `auto` (the default) takes as many as there are
   * processors, but at most 8. Where memory cannot be shared there is one worker, whatever is
   * asked for.
   */
  threads?: "auto" | number | undefined;
  /** What runs programs. `auto` (the default) measures it. */
  engine?: "auto" | Engine | undefined;
  /** Hashes that a worker computes together, 1 to 8 (the default), 2 MiB each. */
  lanes?: number | undefined;
  /**
   * Keys whose caches are held at a time, 1 (the default) to 3, 256 MiB each. The one that has been
   * without work for longest makes room for another.
   */
  slots?: number | undefined;
  /**
   * Inputs that may wait, 1 to 1,048,576, together with 256 MiB of bytes; 65,536 by default. A call
   * that would be over it rejects at once with code `queue-full`.
   */
  maxQueue?: number | undefined;
  /**
   * Where the WebAssembly is, if not where the package or its bundler has put it. Relative to the
   * page; where there is none, absolute.
   */
  wasmUrl?: string | URL | undefined;
  /** Where the WebAssembly of Monero's rules is, likewise. It is loaded when it is first needed. */
  moneroWasmUrl?: string | URL | undefined;
  /** Where the worker's script is, likewise. One of another origin is imported by a `blob:` script. */
  workerUrl?: string | URL | undefined;
  /**
   * For tests and measurements: `false` does without a feature that is there, `true` for one
   * that is not is `unsupported`.
   */
  features?: Partial<Features> | undefined;
}

/** How an instance works. */
export interface Configuration {
  /** Workers. */
  threads: number;
  /** Hashes that a worker computes together. */
  lanes: number;
  /** Keys whose caches are held at a time. */
  slots: number;
  /** What runs programs; with `engine: "auto"` it may change once, when it has been measured. */
  engine: Engine;
  /** What is made use of. */
  features: Features;
}

/** Checked options. */
export interface Choices {
  threads: "auto" | number;
  engine: "auto" | Engine;
  lanes: number;
  slots: number;
  maxQueue: number;
  features: Partial<Features>;
  wasmUrl: string | undefined;
  moneroWasmUrl: string | undefined;
  workerUrl: string | undefined;
}

/** A cache's memory has places for 32 workers; some must stay free for those that replace others. */
const MAX_THREADS = 24;

/** What `auto` takes at most: every worker has memory of its own. */
const MAX_AUTO_THREADS = 8;

const MAX_LANES = 8;
const MAX_SLOTS = 3;

/** A million inputs of Monero's length are some 80 MB, and as many promises. */
const MAX_QUEUE = 1 << 20;
const DEFAULT_QUEUE = 1 << 16;

const ENGINES = ["auto", "jit", "interpreter"] as const;
const FEATURES = ["fusedMultiplyAdd", "wideArithmetic", "sharedMemory"] as const;

/** Options, checked and completed. */
export function choices(options: CreateOptions): Choices {
  const given = validate.record("options", options);
  const { threads = "auto", engine = "auto", lanes = MAX_LANES, features = {} } = given;
  const { slots = 1, maxQueue = DEFAULT_QUEUE } = given;
  return {
    threads: threads === "auto" ? threads : validate.count("threads", threads, MAX_THREADS),
    engine: validate.oneOf("engine", engine, ENGINES),
    lanes: validate.count("lanes", lanes, MAX_LANES),
    slots: validate.count("slots", slots, MAX_SLOTS),
    maxQueue: validate.count("maxQueue", maxQueue, MAX_QUEUE),
    features: featureSwitches(validate.record("features", features)),
    wasmUrl: validate.address("wasmUrl", given.wasmUrl),
    moneroWasmUrl: validate.address("moneroWasmUrl", given.moneroWasmUrl),
    workerUrl: validate.address("workerUrl", given.workerUrl),
  };
}

/** As many workers as were chosen. */
export function threadCount({ threads }: Choices, { sharedMemory }: Features): number {
  if (!sharedMemory) return 1;
  if (threads !== "auto") return threads;
  return Math.min(MAX_AUTO_THREADS, processors());
}

function featureSwitches(given: Record<string, unknown>): Partial<Features> {
  const switches: Partial<Features> = {};
  for (const [name, value] of Object.entries(given)) {
    const feature = FEATURES.find((each) => each === name);
    if (!feature) throw invalidArgument(`features.${name}`, "there is no such feature");
    if (value === undefined) continue;
    if (typeof value !== "boolean") {
      throw invalidArgument(`features.${name}`, "expected true or false");
    }
    switches[feature] = value;
  }
  return switches;
}
