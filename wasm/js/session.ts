/**
 * A worker's own work, independent of threads: caches in slots, and the VM that hashes with one of
 * them. A fill yields to other tasks about every 20 ms. The worker drives a session in browsers and
 * in Node; tests drive it directly.
 */
import { aborted } from "./errors.js";
import { fillInSteps, type Control } from "./fill.js";
import { CodeGarbage, collect } from "./garbage.js";
import { timesOf } from "./hashed.js";
import type { Args, Cache, Result } from "./protocol.js";
import { HASH_SIZE } from "./sizes.js";
import type { Engine, Mode, Times } from "./types.js";

export type { Control };

/** The exports of the WebAssembly module that a session uses. */
export type RandomXWasm = Pick<
  typeof import("../pkg/randomx_wasm.js"),
  "Cache" | "CacheBuilder" | "Vm" | "cacheMemory" | "commitment"
>;

/** The setting of a session. */
export interface Setting {
  lanes: number;
  /** The features in use, as the wasm crate's bits. */
  features: number;
  /** The session's place in the memory of each cache. */
  place: number;
}

/**
 * Dataset items that are computed during a fill, in some milliseconds. V8 optimises all functions of
 * the items' module after some 1,200.
 */
const WARM_UP = 2048;

/** A worker's session, in WebAssembly or native code. */
export type WorkerSession = Pick<Session, Exclude<keyof Session, "attach" | "mode" | "keep">> & {
  attach: (args: Args<"attach">) => Result<"attach"> | Promise<Result<"attach">>;
  /** Only browsers keep caches. */
  keep?: Session["keep"];
  /** Returns what the last hash with a slot read its dataset items from. */
  mode: (slot: number) => Mode;
};

/** A slot, as this session uses it. */
interface Slot {
  /** The memory, if only this session has it. */
  memory?: WebAssembly.Memory;
  cache?: WasmCache;
}

/** How inputs are hashed. */
export type Hashing = Omit<Args<"hash">, "inputs"> & { inputs: Uint8Array[] };

type WasmCache = InstanceType<RandomXWasm["Cache"]>;
type Vm = InstanceType<RandomXWasm["Vm"]>;

/** Loads what reads and writes kept caches. If that fails, caches are filled, and not kept. */
export function loadKept(): Promise<typeof import("./kept/file.js") | undefined> {
  return import("./kept/file.js").catch(() => undefined);
}

/** Performs one operation at a time: the caller awaits each before the next. */
export class Session {
  readonly #wasm: RandomXWasm;
  readonly #setting: Setting;
  readonly #pause: () => Promise<void>;
  readonly #slots: Slot[] = [];
  /**
   * One VM serves all keys, because its scratchpads take 2 MiB a lane. It uses the cache of its slot,
   * or while the slot has none, the last one.
   */
  #vm: { vm: Vm; slot: number; engine: Engine } | undefined;
  readonly #garbage = new CodeGarbage();
  #elapsed = 0;

  /** `pause` lets the thread run other tasks, such as messages and timers. */
  constructor(wasm: RandomXWasm, setting: Setting, pause: () => Promise<void>) {
    this.#wasm = wasm;
    this.#setting = setting;
    this.#pause = pause;
  }

  /** Allocates the memory of a slot, for one key after another. Returns it if it is shared. */
  allocate({ slot, shared }: Args<"allocate">): Result<"allocate"> {
    this.release({ slot });
    const memory = this.#wasm.cacheMemory(shared);
    if (shared) return memory;
    this.#slots[slot] = { memory };
    return undefined;
  }

  /** Fills the cache of a key into the memory that held the slot's last key, or reads it if it is kept. */
  async fill({ slot, key, memory, mayRead }: Args<"fill">, control: Control): Promise<Cache> {
    this.#dropCache(slot);
    const target = this.#memoryOf(slot, memory);
    const read = mayRead && (await this.#read(key, target, control));
    if (read) {
      const cache = new this.#wasm.Cache(target, read, this.#setting.place);
      this.#setCache(slot, cache);
      cache.items(new Uint32Array(WARM_UP));
      return { key, memory, items: read, isKept: true };
    }
    const builder = new this.#wasm.CacheBuilder(key, target, this.#setting.features);
    try {
      const items = builder.items();
      const cache = new this.#wasm.Cache(target, items, this.#setting.place);
      // The values do not matter. Engines optimise code that has run for a while. They do it in the
      // background of the fill, or else during the first hash, beside other workers' hashes. Before
      // the first pass these reads would map the system's page of zeros at many places.
      const warmUp = (): void => {
        cache.items(new Uint32Array(WARM_UP));
      };
      await fillInSteps(builder, control, this.#pause, warmUp).catch((error: unknown) => {
        cache.free();
        throw error;
      });
      this.#setCache(slot, cache);
      return { key, memory, items };
    } finally {
      builder.free();
    }
  }

  /** Writes a slot's cache to the browser's storage. */
  async keep(
    { slot, key, memory, isFresh }: Args<"keep">,
    signal: AbortSignal,
  ): Promise<Result<"keep">> {
    const target = this.#memoryOf(slot, memory);
    const kept = await loadKept();
    return kept ? kept.writeKept(key, target, signal, this.#pause, isFresh) : "impossible";
  }

  /** Uses a cache that another worker has filled. */
  attach({ slot, cache: { memory, items } }: Args<"attach">): Result<"attach"> {
    if (!memory || !items) throw new Error("the memory is not shared");
    this.#dropCache(slot);
    this.#setCache(slot, new this.#wasm.Cache(memory, items, this.#setting.place));
    collect();
    return null;
  }

  /** The milliseconds that the last inputs took, without making a VM. */
  get elapsed(): number {
    return this.#elapsed;
  }

  /** Returns the hashes of the inputs one after another, 32 bytes each. */
  hash({ slot, version, inputs, engine, lanes = inputs.length }: Hashing): Uint8Array {
    const vm = this.#vmOf(slot, engine);
    const joined = new Uint8Array(HASH_SIZE * inputs.length);
    const start = performance.now();
    for (let first = 0; first < inputs.length; first += lanes) {
      const hashes = vm.hashMany(version, inputs.slice(first, first + lanes));
      joined.set(hashes, HASH_SIZE * first);
    }
    this.#elapsed = performance.now() - start;
    if (engine === "jit") this.#garbage.add(inputs.length);
    return joined;
  }

  /** There is no dataset in WebAssembly. */
  mode(): Mode {
    return "light";
  }

  /** Measures what hashing the inputs spends its time with. */
  measure({ slot, version, inputs, engine }: Hashing): Times {
    const times = this.#vmOf(slot, engine).measure(version, inputs);
    if (engine === "jit") this.#garbage.add(inputs.length);
    return timesOf(times);
  }

  /** Returns the commitment to an input and its hash. */
  commitment({ input, hash }: Args<"commitment">): Result<"commitment"> {
    return this.#wasm.commitment(input, hash);
  }

  /** Drops a slot's cache and memory, and the VM if it uses them. */
  release({ slot }: Args<"release">): Result<"release"> {
    if (this.#vm?.slot === slot) this.#dropVm();
    this.#dropCache(slot);
    this.#slots[slot] = {};
    collect();
    return null;
  }

  #memoryOf(slot: number, shared: WebAssembly.Memory | undefined): WebAssembly.Memory {
    const memory = shared ?? this.#slots[slot]?.memory;
    if (!memory) throw new Error("there is no memory");
    return memory;
  }

  /** Reads a key's cache if it is kept. Returns the module that computes items. */
  async #read(
    key: Uint8Array,
    memory: WebAssembly.Memory,
    { signal, onProgress }: Control,
  ): Promise<WebAssembly.Module | undefined> {
    const kept = await loadKept();
    const reader = await kept?.KeptReader.open(key);
    if (!reader) return undefined;
    onProgress(0);
    let builder: InstanceType<RandomXWasm["CacheBuilder"]> | undefined;
    try {
      // Before the cache is read: a new builder writes its first blocks.
      builder = new this.#wasm.CacheBuilder(key, memory, this.#setting.features);
      const isRead = await reader.read(memory, signal, this.#pause);
      if (signal.aborted) throw aborted(signal);
      if (!isRead) return undefined;
      onProgress(1);
      return builder.items();
    } finally {
      builder?.free();
      await reader.close();
    }
  }

  /** Drops a slot's cache, but not its memory. */
  #dropCache(slot: number): void {
    const { cache, ...memory } = this.#slots[slot] ?? {};
    cache?.free();
    this.#slots[slot] = memory;
  }

  /** Puts a cache into a slot. A VM that used the one before must not keep its memory alive. */
  #setCache(slot: number, cache: WasmCache): void {
    if (this.#vm?.slot === slot) this.#vm.vm.setCache(cache);
    this.#slots[slot] = { ...this.#slots[slot], cache };
  }

  /** Returns the VM, set to the key of a slot. */
  #vmOf(slot: number, engine: Engine): Vm {
    const cache = this.#slots[slot]?.cache;
    if (!cache) throw new Error("there is no cache");
    if (this.#vm?.engine !== engine) {
      this.#dropVm();
      const { lanes, features } = this.#setting;
      const vm = new this.#wasm.Vm(cache, lanes, engine === "jit", features);
      this.#vm = { vm, slot, engine };
    } else if (this.#vm.slot !== slot) {
      this.#vm.vm.setCache(cache);
      this.#vm.slot = slot;
    }
    return this.#vm.vm;
  }

  #dropVm(): void {
    this.#vm?.vm.free();
    this.#vm = undefined;
  }
}
