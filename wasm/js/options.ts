/** The options of an instance, and the configuration that results from them. */
import { processors } from "./environment.js";
import { invalidArgument } from "./errors.js";
import { MAX_LANES } from "./sizes.js";
import type { Engine, Features, Mode } from "./types.js";
import * as validate from "./validate.js";

/** Options of {@link RandomX.create}. The defaults are the fastest. */
export interface CreateOptions {
  /**
   * Workers that hash, 1 to 24. They share each cache. `auto` (the default) takes one for each
   * processor, but at most 8. Where memory cannot be shared there is always one worker.
   */
  threads?: "auto" | number | undefined;
  /**
   * The engine that hashes. `auto` (the default) takes native code in Node, Deno and Bun where its package is
   * installed, and otherwise measures with the first batches which of WebAssembly's engines is faster.
   */
  engine?: "auto" | Engine | undefined;
  /**
   * `light` (the default) hashes with a cache for each key. `fast` also computes a dataset of 2080 MiB
   * before the first hash of a key, with which each hash takes a fraction of the time. `auto` hashes with
   * the cache at once, and with the dataset when it is there: other threads compute it, with a low priority.
   * Where {@link RandomX.follow} computes a hash again with a new cache, `fast` also hashes with
   * the cache at first.
   * Native code has datasets, WebAssembly has none.
   */
  mode?: "auto" | Mode | undefined;
  /**
   * Bytes that datasets of this process may take, 2080 MiB each and by default one. Where that is not
   * enough for another key, `auto` stays with its cache, and `fast` rejects with code `out-of-memory`.
   * If the process loads two copies of the native add-on, each counts its own datasets.
   */
  datasetBytes?: number | undefined;
  /**
   * Hashes that a worker computes together, 1 to 8. Each takes 2 MiB. By default there are 8, and the first batches
   * measure how many at a time are fastest.
   */
  lanes?: number | undefined;
  /**
   * Keys whose caches are held at the same time, 1 (the default) to 3, 256 MiB each. The least
   * recently used cache makes room for another key.
   */
  slots?: number | undefined;
  /**
   * Whether the last key's cache is kept in the browser's storage (the origin private file system), so
   * that a later visit reads it, in a quarter to a half of the time of filling it. It takes 256 MiB there and
   * is written when the instance has been idle for some seconds. By default nothing is kept. Outside of
   * browsers, and where the browser refuses, the option has no effect. {@link RandomX.forgetCache}
   * deletes it.
   */
  keepCache?: boolean | undefined;
  /**
   * Inputs that may wait, 1 to 1,048,576; 65,536 by default. Together they may have 256 MiB. A call
   * that would exceed either limit rejects at once with code `queue-full`. So does a call without
   * inputs, such as `prepare`, while as many calls wait.
   */
  maxQueue?: number | undefined;
  /**
   * The address of the WebAssembly, if it is not where the package or its bundler put it. Relative
   * to the page, or absolute where there is no page.
   */
  wasmUrl?: string | URL | undefined;
  /** The address of the WebAssembly of Monero's rules for single blocks, likewise. It is loaded when first needed. */
  blockWasmUrl?: string | URL | undefined;
  /**
   * The address of the WebAssembly of Monero's rules for chains, likewise. Without `blockWasmUrl` it is loaded for
   * single blocks too.
   */
  moneroWasmUrl?: string | URL | undefined;
  /** The address of the WebAssembly of {@link RandomX.follow}, likewise. */
  followWasmUrl?: string | URL | undefined;
  /** The `file:` URL of the native add-on, if it is not in the package for the system. */
  nativeUrl?: string | URL | undefined;
  /** The address of the worker's script, likewise. A `blob:` script imports one of another origin. */
  workerUrl?: string | URL | undefined;
  /**
   * For tests and measurements: `false` forbids a feature, and `true` demands it: creating rejects
   * with code `unsupported` if it is missing.
   */
  features?: Partial<Features> | undefined;
}

/** How an instance works. */
export interface Configuration {
  /** Workers. There are fewer than the option asks for while the system does not let more start. */
  threads: number;
  /**
   * Hashes that a worker computes together. Unless the option was given, it is the fastest number for the largest
   * batches that were measured, and 8 before that.
   */
  lanes: number;
  /** Keys whose caches are held at the same time. */
  slots: number;
  /**
   * The engine that hashes. With `engine: "auto"` and without native code, the faster one of WebAssembly's
   * engines as far as measured: it may depend on the version of RandomX and the number of hashes.
   */
  engine: Engine;
  /** Why native code does not hash, if `engine` allows it. */
  notNative: string | undefined;
  /**
   * The implementation of each primitive that native code uses on this processor, such as `aes AES-NI`, as
   * one line. WebAssembly has one of each; its choices are `features`.
   */
  implementations: string | undefined;
  /** The features in use. */
  features: Features;
  /**
   * The SHA-256 hashes of the WebAssembly that this version of the package is built with, in
   * hexadecimal digits, as `SHA256SUMS` in the package lists them.
   */
  modules: { randomx: string; block: string; monero: string; follow: string };
}

/** Checked options. */
export interface Choices {
  threads: "auto" | number;
  engine: "auto" | Engine;
  mode: "auto" | Mode;
  datasetBytes: number;
  /** The most hashes that a worker computes together. */
  lanes: number;
  /** The number that the caller has given. Without one, the fastest is measured. */
  givenLanes: number | undefined;
  slots: number;
  keepCache: boolean;
  maxQueue: number;
  features: Partial<Features>;
  wasmUrl: string | undefined;
  blockWasmUrl: string | undefined;
  moneroWasmUrl: string | undefined;
  followWasmUrl: string | undefined;
  nativeUrl: string | undefined;
  workerUrl: string | undefined;
}

/** A cache's memory has places for 31 workers. Replacements of dead workers need spare ones. */
const MAX_THREADS = 24;

/** The limit of `auto`: every worker takes memory. */
const MAX_AUTO_THREADS = 8;

/** A dataset: 34,078,719 items of 64 bytes. */
export const DATASET_BYTES = 34_078_719 * 64;
const MAX_SLOTS = 3;

/** A million inputs of Monero's length are some 80 MB, and as many promises. */
const MAX_QUEUE = 1 << 20;
const DEFAULT_QUEUE = 1 << 16;

const ENGINES = ["auto", "native", "jit", "interpreter"] as const;
const MODES = ["auto", "light", "fast"] as const;
const FEATURES = ["fusedMultiplyAdd", "wideArithmetic", "sharedMemory"] as const;

/** Checks options and fills in the defaults. */
export function choices(options: CreateOptions): Choices {
  const checked = validate.fields("options", options, {
    threads: (name, value = "auto") =>
      value === "auto" ? value : validate.count(name, value, MAX_THREADS),
    engine: (name, value = "auto") => validate.oneOf(name, value, ENGINES),
    mode: (name, value = "light") => validate.oneOf(name, value, MODES),
    datasetBytes: (name, value = DATASET_BYTES) =>
      validate.count(name, value, Number.MAX_SAFE_INTEGER),
    lanes: validate.optional((name, value) => validate.count(name, value, MAX_LANES)),
    slots: (name, value = 1) => validate.count(name, value, MAX_SLOTS),
    keepCache: (name, value = false) => validate.flag(name, value),
    maxQueue: (name, value = DEFAULT_QUEUE) => validate.count(name, value, MAX_QUEUE),
    features: (name, value = {}) => featureSwitches(name, value),
    wasmUrl: validate.address,
    blockWasmUrl: validate.address,
    moneroWasmUrl: validate.address,
    followWasmUrl: validate.address,
    nativeUrl: validate.address,
    workerUrl: validate.address,
  });
  const { lanes } = checked;
  return { ...checked, lanes: lanes ?? MAX_LANES, givenLanes: lanes };
}

/**
 * Returns the engines to choose from. A caller who gives an address or features of WebAssembly wants that.
 */
export function enginesOf({ engine, features, wasmUrl }: Choices): readonly Engine[] {
  if (engine !== "auto") return [engine];
  const { fusedMultiplyAdd, wideArithmetic } = features;
  const wantsWasm = (fusedMultiplyAdd ?? wideArithmetic ?? wasmUrl) !== undefined;
  return wantsWasm ? ["jit", "interpreter"] : ["native", "jit", "interpreter"];
}

/** Returns the number of workers that the options ask for. */
export function threadCount({ threads }: Choices, { sharedMemory }: Features): number {
  if (!sharedMemory) return 1;
  if (threads !== "auto") return threads;
  return Math.min(MAX_AUTO_THREADS, processors());
}

function featureSwitches(name: string, features: unknown): Partial<Features> {
  const switches: Partial<Features> = {};
  for (const [key, value] of validate.entries(name, features)) {
    const feature = FEATURES.find((each) => each === key);
    if (!feature) throw invalidArgument(`${name}.${key}`, "there is no such feature");
    if (value !== undefined) switches[feature] = validate.flag(`${name}.${key}`, value);
  }
  return switches;
}
