/**
 * A worker's own work, without a word about workers: caches, in slots, and the machine that hashes
 * with one of them. A fill gives way to other tasks about every 20 ms. The worker drives it in browsers and in
 * Node, the tests without one.
 */
import { moveFront, type Front } from "./ahead.js";
import { aborted } from "./errors.js";
import { fastest } from "./fastest.js";
import type { Engine } from "./options.js";
import type { Args, Cache, Hashed, Result, Times } from "./protocol.js";
import { Waste, collect } from "./waste.js";

/** The exports of the WebAssembly module that a session uses. */
export type RandomXWasm = Pick<
  typeof import("../pkg/randomx_wasm.js"),
  "Cache" | "CacheBuilder" | "Vm" | "cacheMemory" | "calibrate" | "commitment"
>;

/** How a session works. */
export interface Setting {
  lanes: number;
  /** What is made use of, as the wasm crate's bits. */
  features: number;
  /** Which place in the memory of each cache is the session's. */
  place: number;
}

/** How a caller follows and stops a fill. */
export interface Control {
  /** When aborted, the fill ends at its next pause with code `aborted`. */
  signal: AbortSignal;
  /** Hears the part of the cache that is filled, 0 to 1; the last call says 1. */
  onProgress: (done: number) => void;
}

/** How long a fill may keep its thread, in milliseconds. */
const TURN_MS = 20;

/** Bytes of a block, of which a fill is made. */
const BLOCK_SIZE = 1024;

/** Blocks in the first step of a fill, before the speed is known: a few milliseconds. */
const FIRST_STEP = 2048;

/** Dataset items that are computed before a fill, in some milliseconds. */
const WARM_UP = 1024;

const HASH_SIZE = 32;

/** What is known of a slot. */
interface Slot {
  /** Its memory, if that is this session's own. */
  memory?: WebAssembly.Memory;
  cache?: WasmCache;
}

type WasmCache = InstanceType<RandomXWasm["Cache"]>;
type Vm = InstanceType<RandomXWasm["Vm"]>;
type CacheBuilder = InstanceType<RandomXWasm["CacheBuilder"]>;

/** One operation at a time: the caller awaits each before the next. */
export class Session {
  readonly #wasm: RandomXWasm;
  readonly #setting: Setting;
  readonly #pause: () => Promise<void>;
  readonly #slots: Slot[] = [];
  #machine: { vm: Vm; cache: WasmCache; engine: Engine } | undefined;
  readonly #waste = new Waste();

  /** `pause` lets the thread's other tasks run: messages, timers. */
  constructor(wasm: RandomXWasm, setting: Setting, pause: () => Promise<void>) {
    this.#wasm = wasm;
    this.#setting = setting;
    this.#pause = pause;
  }

  /** Takes the memory of a slot, for one key after another; returned is what others can share. */
  allocate({ slot, shared }: Args<"allocate">): Result<"allocate"> {
    this.release({ slot });
    const memory = this.#wasm.cacheMemory(shared);
    if (shared) return memory;
    this.#slots[slot] = { memory };
    return undefined;
  }

  /** Fills the cache of a key; the last one's memory is used again. */
  async fill({ slot, key, memory, front }: Args<"fill">, control: Control): Promise<Cache> {
    this.#leave(slot);
    const target = memory ?? this.#slots[slot]?.memory;
    if (!target) throw new Error("there is no memory");
    const builder = new this.#wasm.CacheBuilder(key, target, this.#setting.features);
    try {
      const items = builder.items();
      const cache = new this.#wasm.Cache(target, items, this.#setting.place);
      // What these items are does not matter: engines make better code of what has run for a
      // while, and make it beside the fill.
      cache.items(new Uint32Array(WARM_UP));
      await this.#fillInSteps(builder, control, front).catch((error: unknown) => {
        cache.free();
        throw error;
      });
      this.#slots[slot] = { ...this.#slots[slot], cache };
      return { key, memory, items };
    } finally {
      builder.free();
    }
  }

  /** Uses a cache that another worker has filled. */
  attach({ slot, cache: { memory, items } }: Args<"attach">): Result<"attach"> {
    this.release({ slot });
    if (!memory) throw new Error("the memory is not shared");
    this.#slots[slot] = { cache: new this.#wasm.Cache(memory, items, this.#setting.place) };
    return null;
  }

  /** The first of some engines, unless another one is clearly faster. */
  calibrate({ engines }: Args<"calibrate">): Engine {
    // In the place of these scratchpads there is one for the measurement, and then they are again:
    // memory of WebAssembly only grows.
    this.#dropVm();
    return fastest(this.#wasm, engines, this.#setting.features);
  }

  /** The hashes of the inputs, in order. */
  hash({ slot, version, inputs, engine }: Args<"hash">): Hashed[] {
    const bytes = inputs.map((input) => input.bytes);
    const joined = this.#vmOf(slot, engine).hashMany(version, bytes);
    if (engine === "jit") this.#waste.add(inputs.length);
    return inputs.map((_, index) => ({
      hash: joined.slice(index * HASH_SIZE, (index + 1) * HASH_SIZE),
    }));
  }

  /** What hashes of the inputs spend their time with. */
  measure({ slot, version, inputs, engine }: Args<"measure">): Times {
    const bytes = inputs.map((input) => input.bytes);
    const times = this.#vmOf(slot, engine).measure(version, bytes);
    const [fill = 0, generate = 0, compile = 0, execute = 0, items = 0, finish = 0] = times;
    return { fill, generate, compile, execute, items, finish };
  }

  /** The commitment to an input and its hash. */
  commitment({ input, hash }: Args<"commitment">): Result<"commitment"> {
    return this.#wasm.commitment(input, hash);
  }

  /** Lets go of a slot's cache and memory, and of the machine that hashes with it. */
  release({ slot }: Args<"release">): Result<"release"> {
    this.#leave(slot);
    this.#slots[slot] = {};
    collect();
    return null;
  }

  #leave(slot: number): void {
    const { cache, ...memory } = this.#slots[slot] ?? {};
    if (!cache) return;
    if (this.#machine?.cache === cache) this.#dropVm();
    cache.free();
    this.#slots[slot] = memory;
  }

  /** There is one machine at a time: its scratchpads are more memory than it takes long to make. */
  #vmOf(slot: number, engine: Engine): Vm {
    const cache = this.#slots[slot]?.cache;
    if (!cache) throw new Error("there is no cache");
    if (this.#machine?.cache === cache && this.#machine.engine === engine) return this.#machine.vm;
    this.#dropVm();
    const { lanes, features } = this.#setting;
    const vm = new this.#wasm.Vm(cache, lanes, engine === "jit", features);
    this.#machine = { vm, cache, engine };
    return vm;
  }

  #dropVm(): void {
    this.#machine?.vm.free();
    this.#machine = undefined;
  }

  async #fillInSteps(
    builder: CacheBuilder,
    control: Control,
    front: Front | undefined,
  ): Promise<void> {
    control.onProgress(0);
    let step = FIRST_STEP;
    for (;;) {
      if (front) moveFront(front, step * BLOCK_SIZE);
      const start = performance.now();
      const done = builder.fill(step);
      const ms = performance.now() - start;
      control.onProgress(done);
      if (done >= 1) return;
      // At most doubled, so that one step that was interrupted does not set the size alone.
      step = Math.max(1, Math.min(2 * step, Math.floor((step * TURN_MS) / ms)));
      await this.#pause();
      if (control.signal.aborted) throw aborted(control.signal);
    }
  }
}
