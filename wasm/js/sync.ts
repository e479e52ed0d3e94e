/// <reference lib="esnext.disposable" preserve="true" />
/**
 * RandomX without workers and promises: each call blocks until it is done. For code that already runs
 * in a worker, and for scripts. In a page use {@link RandomX} of `randomx-web`.
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
import { RandomXError, asRandomXError, guardedSync, invalidArgument } from "./errors.js";
import { fastest } from "./fastest.js";
import { CodeGarbage } from "./garbage.js";
import { FILL, HASH_SIZE, MAX_LANES } from "./sizes.js";
import { checkSupport } from "./support.js";
import type { Bytes, WasmEngine, Version } from "./types.js";
import * as validate from "./validate.js";

export { RandomXError, type RandomXErrorCode } from "./errors.js";
export type { Bytes, WasmEngine, Version } from "./types.js";

/** How a {@link Vm} works. */
export interface VmOptions {
  /** RandomX 1 (the default, which Monero runs) or 2. Both use the same cache. */
  version?: Version | undefined;
  /** The engine that runs programs. `auto` (the default) measures both once, which takes some 100 ms. */
  engine?: "auto" | WasmEngine | undefined;
  /** Inputs that {@link Vm.calculateHashes} hashes together, 1 to 8 (the default), 2 MiB each. */
  lanes?: number | undefined;
}

/** A `WebAssembly.Module`. The types of Node.js have none, so projects with these alone cannot pass one. */
type Module = typeof globalThis extends {
  WebAssembly: { Module: new (...args: never) => infer M };
}
  ? M & object
  : never;

const ENGINES = ["auto", "jit", "interpreter"] as const;

/** The features in use, once the module is loaded. */
let features: number | undefined;
let measured: WasmEngine | undefined;
const garbage = new CodeGarbage();

/**
 * Loads the WebAssembly module from an address, or uses a compiled one. Only needed before the first
 * call if the module cannot be read synchronously: in a page, or if it is not beside this script.
 *
 * @throws {@link RandomXError} `invalid-argument`, `unsupported`, `wasm-blocked`, `out-of-memory`, `worker-failed`.
 */
export async function load(source?: string | URL | Module): Promise<void> {
  try {
    checkSupport();
    const module = await moduleFrom(source);
    // `wasm.default` awaits the instance, which would then replace one that earlier calls use.
    wasm.initSync({ module });
    features = wasm.detectFeatures();
  } catch (thrown) {
    throw asRandomXError(thrown);
  }
}

/** A key's cache, 256 MiB. */
export class Cache {
  #memory: WebAssembly.Memory | undefined;
  #cache: wasm.Cache | undefined;
  /** The VMs that use it. One that nobody else holds may be collected. */
  readonly #vms = new Set<WeakRef<Vm>>();

  /** @internal */
  constructor(memory: WebAssembly.Memory, cache: wasm.Cache) {
    this.#memory = memory;
    this.#cache = cache;
  }

  /** @internal Returns whether a value is a cache. A Proxy of one is not. */
  static is(value: unknown): value is Cache {
    return typeof value === "object" && value !== null && #cache in value;
  }

  /** @internal Releases the cache, and returns its memory for another. */
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

  /** @internal Releases a VM with the cache, unless the returned function was called before. */
  attach(vm: Vm): () => void {
    for (const each of this.#vms) if (!each.deref()) this.#vms.delete(each);
    const held = new WeakRef(vm);
    this.#vms.add(held);
    return () => this.#vms.delete(held);
  }

  /** Releases the memory. The engine collects it in its own time. VMs with this cache stop working. */
  release(): void {
    // A VM keeps the memory alive.
    for (const vm of this.#vms) vm.deref()?.release();
    this.#vms.clear();
    this.#cache?.free();
    this.#cache = undefined;
    this.#memory = undefined;
  }

  /** Does the same as {@link Cache.release}, for `using`. */
  [Symbol.dispose](): void {
    this.release();
  }
}

/**
 * Fills the cache of a key (specification, section 7), in some 600 ms.
 *
 * @param key - at most 1 MiB; may be empty.
 * @param old - a cache to release. Its memory is used for the new one.
 * @throws {@link RandomXError} `invalid-argument`, `out-of-memory`, and the codes of {@link load}.
 */
export function initCache(key: Bytes, old?: Cache): Cache {
  const bytes = validate.bytes("key", key);
  if (old !== undefined && !Cache.is(old)) throw invalidArgument("old", "expected a Cache");
  const features = loaded();
  return guardedSync(() => {
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

/** A VM, which hashes with a cache. */
export class Vm {
  readonly #cache: Cache;
  readonly #version: Version;
  readonly #engine: WasmEngine;
  /** Inputs of one call of the module: whole groups of lanes. The garbage of more would wait for the call's end. */
  readonly #most: number;
  readonly #detach: () => void;
  #vm: wasm.Vm | undefined;

  /** @internal */
  constructor(cache: Cache, version: Version, engine: WasmEngine, lanes: number, vm: wasm.Vm) {
    this.#cache = cache;
    this.#detach = cache.attach(this);
    this.#version = version;
    this.#engine = engine;
    this.#most = MAX_LANES - (MAX_LANES % lanes);
    this.#vm = vm;
  }

  /** The engine that runs programs. */
  get engine(): WasmEngine {
    return this.#engine;
  }

  /**
   * Returns the RandomX hash of an input, 32 bytes (specification, section 2).
   *
   * @param input - at most 1 MiB; may be empty.
   * @throws {@link RandomXError} `invalid-argument`, also if the VM or the cache was released;
   * `out-of-memory`.
   */
  calculateHash(input: Bytes): Uint8Array {
    return this.#hash([validate.bytes("input", input)]);
  }

  /** Returns the hashes of inputs, in order. Faster than one call for each. */
  calculateHashes(inputs: readonly Bytes[]): Uint8Array[] {
    const joined = this.#hash(validate.byteArrays("inputs", inputs));
    return Array.from({ length: joined.length / HASH_SIZE }, (_, index) =>
      joined.slice(index * HASH_SIZE, (index + 1) * HASH_SIZE),
    );
  }

  /** Frees the scratchpads. The cache stays. */
  release(): void {
    this.#detach();
    this.#vm?.free();
    this.#vm = undefined;
  }

  /** Does the same as {@link Vm.release}, for `using`. */
  [Symbol.dispose](): void {
    this.release();
  }

  #hash(inputs: readonly Uint8Array[]): Uint8Array {
    // A cache releases its VMs with it.
    this.#cache.check();
    const vm = this.#vm;
    if (!vm) throw invalidArgument("vm", "it was released");
    return guardedSync(() => {
      const joined = new Uint8Array(HASH_SIZE * inputs.length);
      for (let first = 0; first < inputs.length; first += this.#most) {
        const next = inputs.slice(first, first + this.#most);
        joined.set(vm.hashMany(this.#version, next), HASH_SIZE * first);
        if (this.#engine === "jit") garbage.add(next.length);
      }
      return joined;
    });
  }
}

/**
 * Creates a VM with a cache. Several VMs can use one cache.
 *
 * @throws {@link RandomXError} `invalid-argument`, `out-of-memory`.
 */
export function createVm(cache: Cache, options: VmOptions = {}): Vm {
  if (!Cache.is(cache)) throw invalidArgument("cache", "expected a Cache");
  const { version, engine, lanes } = validate.fields("options", options, {
    version: validate.version,
    engine: (name, value = "auto") => validate.oneOf(name, value, ENGINES),
    lanes: (name, value = MAX_LANES) => validate.count(name, value, MAX_LANES),
  });
  const features = loaded();
  return guardedSync(() => {
    const auto = (): WasmEngine => (measured ??= fastest(wasm, ["jit", "interpreter"], features));
    const chosen = engine === "auto" ? auto() : engine;
    const vm = new wasm.Vm(cache.check(), lanes, chosen === "jit", features);
    return new Vm(cache, version, chosen, lanes, vm);
  });
}

/**
 * Returns the commitment, 32 bytes, to an input and its hash: `Blake2b-256(input || hash)`.
 *
 * @param input - at most 1 MiB; may be empty.
 * @param hash - 32 bytes.
 * @throws {@link RandomXError} `invalid-argument`, and the codes of {@link load}.
 */
export function calculateCommitment(input: Bytes, hash: Bytes): Uint8Array {
  const checked = [validate.bytes("input", input), validate.hash("hash", hash)] as const;
  loaded();
  return guardedSync(() => wasm.commitment(...checked));
}

/** Returns the features. Loads the module first if necessary. */
function loaded(): number {
  if (features !== undefined) return features;
  return guardedSync(() => {
    checkSupport();
    wasm.initSync({ module: new WebAssembly.Module(read(ownModule())) });
    return (features = wasm.detectFeatures());
  });
}

async function moduleFrom(source: unknown): Promise<WebAssembly.Module> {
  if (validate.reading("source", () => source instanceof WebAssembly.Module)) {
    return source as WebAssembly.Module;
  }
  const address = validate.address("source", source);
  return compile(address === undefined ? ownModule() : new URL(address));
}

function ownModule(): URL {
  return new URL("../pkg/randomx_wasm_bg.wasm", import.meta.url);
}

/** Reads a file or an address synchronously. */
function read(address: URL): BufferSource {
  const files = address.protocol === "file:" && nodeModule("fs");
  if (files) return files.readFileSync(address);
  // Pages must not block, and cannot request bytes synchronously.
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
