/** Hashing without workers: each call blocks its thread. */
import { createVm, initCache, type Cache as WasmCache, type Vm as WasmVm } from "./sync.js";
import { collect } from "./garbage.js";
import { equal } from "./bytes.js";
import { FILL } from "./sizes.js";
import type { Version, WasmEngine } from "./types.js";
import type { Addon, Cache, Vm } from "./native/addon.js";

/** Hashes with the keys that it is given, and holds the caches of the last ones. */
export interface Hasher {
  /** Returns the hash of an input. At most `caches` caches are held afterwards. */
  hash: (key: Uint8Array, version: Version, input: Uint8Array, caches: number) => Uint8Array;
  /** Frees everything. */
  free: () => void;
}

/** The values of the last used keys, the most recent first. */
class Recent<T> {
  #entries: { key: Uint8Array; value: T }[] = [];

  /** Returns the value of a key. If there is none, makes one after dropping all but `most - 1` others. */
  get(key: Uint8Array, most: number, make: () => T, drop: (value: T) => void): T {
    const found = this.#entries.find((entry) => equal(entry.key, key));
    const others = this.#entries.filter((entry) => entry !== found);
    for (const { value } of others.splice(most - 1)) drop(value);
    // `make` may throw, and the list must not keep the values that were dropped.
    this.#entries = found ? [found, ...others] : others;
    const entry = found ?? { key, value: make() };
    this.#entries = [entry, ...others];
    return entry.value;
  }

  /** Drops all values. */
  clear(drop: (value: T) => void): void {
    for (const { value } of this.#entries.splice(0)) drop(value);
  }
}

/** Hashes with the native add-on. The workers of a process share a key's cache. */
export class NativeHasher implements Hasher {
  readonly #addon: Addon;
  readonly #caches = new Recent<Cache>();
  #vm: { vm: Vm; cache: Cache } | undefined;

  constructor(addon: Addon) {
    this.#addon = addon;
  }

  hash(key: Uint8Array, version: Version, input: Uint8Array, caches: number): Uint8Array {
    const cache = this.#caches.get(key, caches, () => this.#fill(key), this.#drop);
    this.#vm ??= { vm: new this.#addon.Vm(cache, 1), cache };
    if (this.#vm.cache !== cache) {
      this.#vm.vm.setCache(cache);
      this.#vm.cache = cache;
    }
    return this.#vm.vm.hashMany(version, [input]);
  }

  free(): void {
    this.#caches.clear(this.#drop);
  }

  /** Drops a cache, and the VM that keeps its memory. */
  readonly #drop = (cache: Cache): void => {
    if (this.#vm?.cache === cache) {
      this.#vm.vm.free();
      this.#vm = undefined;
    }
    cache.free();
  };

  #fill(key: Uint8Array): Cache {
    const held = this.#addon.Cache.find(key);
    if (held) return held;
    const builder = new this.#addon.CacheBuilder(key);
    try {
      while (builder.fill(FILL) < 1);
      return builder.finish(false);
    } finally {
      builder.free();
    }
  }
}

/** Hashes with WebAssembly. */
export class WasmHasher implements Hasher {
  readonly #engine: "auto" | WasmEngine;
  readonly #caches = new Recent<{ cache: WasmCache; vms: Map<Version, WasmVm> }>();

  constructor(engine: "auto" | WasmEngine) {
    this.#engine = engine;
  }

  hash(key: Uint8Array, version: Version, input: Uint8Array, caches: number): Uint8Array {
    const make = (): { cache: WasmCache; vms: Map<Version, WasmVm> } => ({
      cache: initCache(key),
      vms: new Map(),
    });
    const { cache, vms } = this.#caches.get(key, caches, make, drop);
    const vm = vms.get(version) ?? createVm(cache, { version, engine: this.#engine, lanes: 1 });
    vms.set(version, vm);
    return vm.calculateHash(input);
  }

  free(): void {
    this.#caches.clear(drop);
  }
}

function drop({ cache, vms }: { cache: WasmCache; vms: Map<Version, WasmVm> }): void {
  for (const vm of vms.values()) vm.release();
  cache.release();
  collect();
}
