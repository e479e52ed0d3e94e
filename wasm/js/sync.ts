/// <reference lib="esnext.disposable" preserve="true" />
/**
 * RandomX without workers and promises, for code that sits in a worker of its own already, or in
 * Node: each call blocks until it is done. In a page use {@link RandomX} of `randomx-web`.
 *
 * @example
 * ```ts
 * const cache = initCache(seedHash);
 * const vm = createVm(cache);
 * const hash = vm.calculateHash(hashingBlob);
 * ```
 *
 * @packageDocumentation
 */
import * as wasm from "../pkg/randomx_wasm.js";
import { compile, nodeModule } from "./environment.js";
import { RandomXError, asRandomXError, invalidArgument } from "./errors.js";
import { fastest } from "./fastest.js";
import type { Engine } from "./options.js";
import { checkSupport } from "./support.js";
import * as validate from "./validate.js";
import type { Bytes, Version } from "./validate.js";
import { Waste } from "./waste.js";

export { RandomXError, type RandomXErrorCode } from "./errors.js";
export type { Engine } from "./options.js";
export type { Bytes, Version } from "./validate.js";

/** How a {@link Vm} works. */
export interface VmOptions {
  /** RandomX 1 (the default: what Monero runs) or 2. The same cache serves both. */
  version?: Version | undefined;
  /** What runs programs. `auto` (the default) measures it once, which takes some 100 ms. */
  engine?: "auto" | Engine | undefined;
  /** Inputs that {@link Vm.calculateHashes} hashes together, 1 to 8 (the default), 2 MiB each. */
  lanes?: number | undefined;
}

/** Blocks of 1 KiB in a call, of 786,432: less often than that, nobody looks anyway. */
const FILL = 1 << 16;

const MAX_LANES = 8;
const HASH_SIZE = 32;
const ENGINES = ["auto", "jit", "interpreter"] as const;

/** The features that are made use of, once the module is there. */
let features: number | undefined;
let measured: Engine | undefined;
const waste = new Waste();

/**
 * Loads the WebAssembly module from an address, or takes it as it is given. Needed before the first
 * call only where the module cannot be read at once: outside of workers, Node, Deno and Bun, or
 * where it is not beside this script.
 *
 * @throws {@link RandomXError} `invalid-argument`, `unsupported`, `wasm-blocked`, `worker-failed`.
 */
export async function load(source?: string | URL | WebAssembly.Module): Promise<void> {
  checkSupport();
  const isModule = source instanceof WebAssembly.Module;
  const address = isModule ? undefined : validate.address("source", source);
  await foreseen(async () => {
    const module_or_path = isModule
      ? source
      : await compile(address === undefined ? ownModule() : new URL(address));
    await wasm.default({ module_or_path });
    features = wasm.detectFeatures();
  });
}

/** A key's cache, 256 MiB. */
export class Cache {
  #memory: WebAssembly.Memory | undefined;
  #cache: wasm.Cache | undefined;

  /** @internal */
  constructor(memory: WebAssembly.Memory, cache: wasm.Cache) {
    this.#memory = memory;
    this.#cache = cache;
  }

  /** @internal The memory, which this cache gives up. */
  take(): WebAssembly.Memory | undefined {
    const memory = this.#memory;
    this.release();
    return memory;
  }

  /** @internal Throws if it was released. */
  check(): wasm.Cache {
    if (!this.#cache) throw invalidArgument("cache", "it was released");
    return this.#cache;
  }

  /** Gives the memory back, when the engine collects it. Machines over it hash no more. */
  release(): void {
    this.#cache?.free();
    this.#cache = undefined;
    this.#memory = undefined;
  }

  /** {@link Cache.release}, for `using`. */
  [Symbol.dispose](): void {
    this.release();
  }
}

/**
 * Fills the cache of a key (specification, section 7), in some 600 ms.
 *
 * @param key - at most 1 MiB; may be empty.
 * @param old - a cache that is no longer needed, whose memory is used again; it is released.
 * @throws {@link RandomXError} `invalid-argument`, `out-of-memory`, and what {@link load} throws.
 */
export function initCache(key: Bytes, old?: Cache): Cache {
  const bytes = validate.bytes("key", key);
  if (old !== undefined && !(old instanceof Cache)) {
    throw invalidArgument("old", "expected a Cache");
  }
  const features = loaded();
  return foreseen(() => {
    const memory = old?.take() ?? wasm.cacheMemory(false);
    const builder = new wasm.CacheBuilder(bytes, memory, features);
    try {
      while (builder.fill(FILL) < 1);
      return new Cache(memory, new wasm.Cache(memory, builder.items(), 1));
    } finally {
      builder.free();
    }
  });
}

/** A machine that hashes with a cache. */
export class Vm {
  readonly #cache: Cache;
  readonly #version: Version;
  readonly #engine: Engine;
  #vm: wasm.Vm | undefined;

  /** @internal */
  constructor(cache: Cache, version: Version, engine: Engine, vm: wasm.Vm) {
    this.#cache = cache;
    this.#version = version;
    this.#engine = engine;
    this.#vm = vm;
  }

  /** What runs programs. */
  get engine(): Engine {
    return this.#engine;
  }

  /**
   * The RandomX hash of an input, 32 bytes (specification, section 2).
   *
   * @param input - at most 1 MiB; may be empty.
   * @throws {@link RandomXError} `invalid-argument`, also where machine or cache were released;
   * `out-of-memory`.
   */
  calculateHash(input: Bytes): Uint8Array {
    return this.#hash([validate.bytes("input", input)]);
  }

  /** The hashes of inputs, in order, in less time than one by one. */
  calculateHashes(inputs: readonly Bytes[]): Uint8Array[] {
    const joined = this.#hash(validate.byteArrays("inputs", inputs));
    return Array.from({ length: joined.length / HASH_SIZE }, (_, index) =>
      joined.slice(index * HASH_SIZE, (index + 1) * HASH_SIZE),
    );
  }

  /** Gives its scratchpads back. The cache stays. */
  release(): void {
    this.#vm?.free();
    this.#vm = undefined;
  }

  /** {@link Vm.release}, for `using`. */
  [Symbol.dispose](): void {
    this.release();
  }

  #hash(inputs: readonly Uint8Array[]): Uint8Array {
    const vm = this.#vm;
    if (!vm) throw invalidArgument("vm", "it was released");
    // Another key's cache may be in that memory by now.
    this.#cache.check();
    const hashes = foreseen(() => vm.hashMany(this.#version, [...inputs]));
    if (this.#engine === "jit") waste.add(inputs.length);
    return hashes;
  }
}

/**
 * A machine over a cache; there may be many.
 *
 * @throws {@link RandomXError} `invalid-argument`, `out-of-memory`.
 */
export function createVm(cache: Cache, options: VmOptions = {}): Vm {
  if (!(cache instanceof Cache)) throw invalidArgument("cache", "expected a Cache");
  const given = validate.record("options", options);
  const { version = 1, engine = "auto", lanes = MAX_LANES } = given;
  const checked = validate.version("version", version);
  const wanted = validate.oneOf("engine", engine, ENGINES);
  const count = validate.count("lanes", lanes, MAX_LANES);
  const features = loaded();
  return foreseen(() => {
    const auto = (): Engine => (measured ??= fastest(wasm, ["jit", "interpreter"], features));
    const chosen = wanted === "auto" ? auto() : wanted;
    const vm = new wasm.Vm(cache.check(), count, chosen === "jit", features);
    return new Vm(cache, checked, chosen, vm);
  });
}

/**
 * The commitment, 32 bytes, to an input and its hash: `Blake2b-256(input || hash)`.
 *
 * @param input - at most 1 MiB; may be empty.
 * @param hash - 32 bytes.
 * @throws {@link RandomXError} `invalid-argument`, and what {@link load} throws.
 */
export function calculateCommitment(input: Bytes, hash: Bytes): Uint8Array {
  const checked = [validate.bytes("input", input), validate.hash("hash", hash)] as const;
  loaded();
  return foreseen(() => wasm.commitment(...checked));
}

/** The features, of a module that is loaded now if it was not before. */
function loaded(): number {
  if (features !== undefined) return features;
  checkSupport();
  return foreseen(() => {
    wasm.initSync({ module: new WebAssembly.Module(read(ownModule())) });
    return (features = wasm.detectFeatures());
  });
}

function ownModule(): URL {
  return new URL("../pkg/randomx_wasm_bg.wasm", import.meta.url);
}

/** What is at an address, where that can be had without waiting. */
function read(address: URL): BufferSource {
  const files = address.protocol === "file:" && nodeModule("fs");
  if (files) return files.readFileSync(address);
  // Pages must not stand still for it, and cannot ask for bytes.
  if (typeof XMLHttpRequest === "undefined" || typeof document !== "undefined") {
    throw new RandomXError("worker-failed", "the WebAssembly module is not loaded: await load()");
  }
  const request = new XMLHttpRequest();
  request.open("GET", address, false);
  request.responseType = "arraybuffer";
  request.send();
  if (request.status === 200) return request.response as ArrayBuffer;
  throw new Error(`the WebAssembly module could not be loaded: status ${request.status}`);
}

/** Runs something, and throws `RandomXError` only. */
function foreseen<T>(run: () => T): T {
  try {
    const result = run();
    if (!(result instanceof Promise)) return result;
    return result.catch((thrown: unknown) => {
      throw asRandomXError(thrown);
    }) as T;
  } catch (thrown) {
    throw asRandomXError(thrown);
  }
}
