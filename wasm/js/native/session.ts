/**
 * A worker's own work with the native add-on, as `../session.ts` does it in WebAssembly. All workers of
 * the process share the cache of a key, which they find by the key. It lives as long as one of them
 * holds it.
 */
import { fillInSteps, type Control } from "../fill.js";
import { splitHashes, timesOf } from "../hashed.js";
import type { Args, Cache as CacheMessage, Hashed, Result, Times } from "../protocol.js";
import type { Session } from "../session.js";
import type { Addon, Cache, Vm } from "./addon.js";

/** Performs one operation at a time: the caller awaits each before the next. */
export class NativeSession implements Pick<Session, keyof Session> {
  readonly #addon: Addon;
  readonly #lanes: number;
  readonly #pause: () => Promise<void>;
  readonly #caches: (Cache | undefined)[] = [];
  /** One VM serves all keys. It uses the cache of its slot. */
  #vm: { vm: Vm; slot: number } | undefined;

  /** `pause` lets the thread run other tasks, such as messages and timers. */
  constructor(addon: Addon, lanes: number, pause: () => Promise<void>) {
    this.#addon = addon;
    this.#lanes = lanes;
    this.#pause = pause;
  }

  /** Allocates nothing: a fill does. */
  allocate({ slot }: Args<"allocate">): Result<"allocate"> {
    this.release({ slot });
    return undefined;
  }

  /** Fills the cache of a key, or takes the one that another worker of the process has filled. */
  async fill({ slot, key }: Args<"fill">, control: Control): Promise<CacheMessage> {
    this.release({ slot });
    const message = { key, memory: undefined, items: undefined };
    const held = this.#addon.Cache.find(key);
    if (held) {
      control.onProgress(1);
      this.#caches[slot] = held;
      return message;
    }
    const builder = new this.#addon.CacheBuilder(key);
    try {
      await fillInSteps(builder, control, this.#pause);
      this.#caches[slot] = builder.finish();
      return message;
    } finally {
      builder.free();
    }
  }

  /** Uses a cache that another worker has filled. */
  attach({ slot, cache: { key } }: Args<"attach">): Result<"attach"> {
    this.release({ slot });
    const cache = this.#addon.Cache.find(key);
    if (!cache) throw new Error("the worker that held the cache is gone");
    this.#caches[slot] = cache;
    return null;
  }

  /** There is one engine. */
  calibrate(): "native" {
    return "native";
  }

  /** Returns the hashes of the inputs, in order. */
  hash({ slot, version, inputs }: Args<"hash">): Hashed[] {
    const bytes = inputs.map((input) => input.bytes);
    return splitHashes(this.#vmOf(slot).hashMany(version, bytes));
  }

  /** Measures what hashing the inputs spends its time with. */
  measure({ slot, version, inputs }: Args<"measure">): Times {
    const bytes = inputs.map((input) => input.bytes);
    return timesOf(this.#vmOf(slot).measure(version, bytes));
  }

  /** Returns the commitment to an input and its hash. */
  commitment({ input, hash }: Args<"commitment">): Result<"commitment"> {
    return this.#addon.commitment(input, hash);
  }

  /** Lets go of a slot's cache, and drops the VM if it uses it. */
  release({ slot }: Args<"release">): Result<"release"> {
    if (this.#vm?.slot === slot) {
      this.#vm.vm.free();
      this.#vm = undefined;
    }
    this.#caches[slot]?.free();
    this.#caches[slot] = undefined;
    return null;
  }

  /** Returns the VM, set to the key of a slot. */
  #vmOf(slot: number): Vm {
    const cache = this.#caches[slot];
    if (!cache) throw new Error("there is no cache");
    if (!this.#vm) {
      this.#vm = { vm: new this.#addon.Vm(cache, this.#lanes), slot };
    } else if (this.#vm.slot !== slot) {
      this.#vm.vm.setCache(cache);
      this.#vm.slot = slot;
    }
    return this.#vm.vm;
  }
}
