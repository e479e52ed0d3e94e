/**
 * A worker's own work with the native add-on, as `../session.ts` does it in WebAssembly. All workers of
 * the process share the cache of a key. Instances find it by the key, and the workers of an instance by its
 * number. It lives as long as one of them holds it.
 */
import { processors } from "../environment.js";
import { RandomXError, aborted } from "../errors.js";
import { fillInSteps, type Control } from "../fill.js";
import { timesOf } from "../hashed.js";
import type { Args, Cache as CacheMessage, Result } from "../protocol.js";
import type { Hashing, WorkerSession } from "../session.js";
import type { Mode, Times } from "../types.js";
import type { Addon, Cache, Dataset, Vm } from "./addon.js";

/** The setting of a session. */
export interface NativeSetting {
  /** Hashes that are computed together, if the caller has given a number. */
  givenLanes: number | undefined;
  mode: "auto" | Mode;
  /** The number of datasets that the process may hold. */
  datasets: number;
  /** Whether the session only fills caches, behind the hashes of others. */
  isFiller: boolean;
}

/** The part of a fill that the cache takes in fast mode, for the progress. The dataset is the rest. */
const CACHE_PART = 0.1;

/** Ignores the progress and an abort of a fill. */
const UNWATCHED: Control = { signal: new AbortController().signal, onProgress: () => undefined };

/** How often a fill looks at the dataset, in milliseconds. */
const LOOK_MS = 20;

/** How long a fill waits until other workers have let go of a dataset, in milliseconds. */
const ROOM_MS = 2000;

/** How long a session waits before it begins a dataset again that could not be built, in milliseconds. */
const RETRY_MS = 60_000;

/** The cache and the dataset that a session holds for a slot's key. */
interface Slot {
  cache: Cache;
  /** The dataset, if there is to be one and the process may hold it. */
  dataset?: Dataset | undefined;
  /** When a dataset may begin, after one that could not be built. */
  retryAt?: number;
}

/** Performs one operation at a time: the caller awaits each before the next. */
export class NativeSession implements WorkerSession {
  readonly #addon: Addon;
  readonly #setting: NativeSetting;
  readonly #pause: () => Promise<void>;
  readonly #slots: (Slot | undefined)[] = [];
  /** One VM serves all keys. It uses the cache or the dataset of its slot. */
  #vm: { vm: Vm; slot: number; mode: Mode } | undefined;

  /** `pause` lets the thread run other tasks, such as messages and timers. */
  constructor(addon: Addon, setting: NativeSetting, pause: () => Promise<void>) {
    this.#addon = addon;
    this.#setting = setting;
    this.#pause = pause;
    if (setting.isFiller) addon.giveWay();
  }

  /** The implementation of each primitive that this processor gets, as one line. */
  get implementations(): string {
    return this.#addon.implementations();
  }

  /** Allocates nothing: a fill does. */
  allocate({ slot }: Args<"allocate">): Result<"allocate"> {
    this.release({ slot });
    return undefined;
  }

  /**
   * Fills the cache of a key, or takes the one that another worker of the process has filled, unless that
   * may be wrong. In fast mode it waits for the dataset too, except for that of a fresh cache: others may hold
   * the key's former dataset, and then there may be no room.
   */
  async fill(
    { slot, key, isFresh = false }: Args<"fill">,
    control: Control,
  ): Promise<CacheMessage> {
    this.release({ slot });
    const waits = this.#setting.mode === "fast" && !isFresh;
    const cache = await this.#cacheOf(key, isFresh, waits ? firstPart(control) : control);
    const kept: Slot = { cache };
    this.#slots[slot] = kept;
    this.#datasetOf(kept);
    if (waits) {
      await complete(() => this.#datasetOf(kept), control).catch((error: unknown) => {
        this.release({ slot });
        throw error;
      });
    }
    return { key, memory: undefined, items: undefined, id: cache.id() };
  }

  /** Uses a cache that another worker of the instance has filled. If its last holder has died, fills it again. */
  async attach({ slot, cache: { key, id } }: Args<"attach">): Promise<Result<"attach">> {
    this.release({ slot });
    const cache = this.#addon.Cache.find(key, id) ?? (await this.#cacheOf(key, false, UNWATCHED));
    this.#slots[slot] = { cache };
    return null;
  }

  /** Returns what the last hash with a slot read its dataset items from. */
  mode(slot: number): Mode {
    return this.#vm?.slot === slot ? this.#vm.mode : "light";
  }

  /** Not measured: there is one engine. */
  get elapsed(): number {
    return Number.NaN;
  }

  /** Returns the hashes of the inputs one after another, 32 bytes each. */
  hash({ slot, version, inputs }: Hashing): Uint8Array {
    return this.#vmOf(slot).hashMany(version, inputs);
  }

  /** Measures what hashing the inputs spends its time with. */
  measure({ slot, version, inputs }: Hashing): Times {
    return timesOf(this.#vmOf(slot).measure(version, inputs));
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
    this.#slots[slot]?.dataset?.free();
    this.#slots[slot]?.cache.free();
    this.#slots[slot] = undefined;
    return null;
  }

  async #cacheOf(key: Uint8Array, isFresh: boolean, control: Control): Promise<Cache> {
    const held = !isFresh && this.#addon.Cache.find(key);
    if (held) {
      control.onProgress(1);
      return held;
    }
    const builder = new this.#addon.CacheBuilder(key);
    try {
      await fillInSteps(builder, control, this.#pause);
      return builder.finish(isFresh);
    } finally {
      builder.free();
    }
  }

  /** Returns the dataset of a slot, or begins it if the process may hold another one. */
  #datasetOf(slot: Slot): Dataset | undefined {
    const { mode, datasets } = this.#setting;
    if (mode === "light" || performance.now() < (slot.retryAt ?? 0)) return undefined;
    slot.dataset ??= this.#addon.Dataset.begin(slot.cache, processors(), datasets) ?? undefined;
    return slot.dataset;
  }

  /** Returns the VM, set to the dataset of a slot if that is complete, or else to its cache. */
  #vmOf(slot: number): Vm {
    const held = this.#slots[slot];
    if (!held) throw new Error("there is no cache");
    this.#datasetOf(held);
    const mode = isComplete(held) ? "fast" : "light";
    const lanes = this.#setting.givenLanes;
    this.#vm ??= { vm: new this.#addon.Vm(held.cache, lanes), slot, mode: "light" };
    if (this.#vm.slot !== slot || this.#vm.mode !== mode) {
      if (mode === "fast" && held.dataset) this.#vm.vm.setDataset(held.dataset);
      else this.#vm.vm.setCache(held.cache);
      Object.assign(this.#vm, { slot, mode });
    }
    return this.#vm.vm;
  }
}

/** Reports the cache's progress as a part of a fill that waits for the dataset. */
function firstPart({ signal, onProgress }: Control): Control {
  return {
    signal,
    onProgress: (done) => {
      onProgress(CACHE_PART * done);
    },
  };
}

/** Returns whether a slot's dataset is complete. Drops one that could not be built: another may begin later. */
function isComplete(slot: Slot): boolean {
  try {
    return slot.dataset?.progress() === 1;
  } catch {
    slot.dataset?.free();
    slot.dataset = undefined;
    slot.retryAt = performance.now() + RETRY_MS;
    return false;
  }
}

/** Waits until a dataset is complete, and before until there is room for it. */
async function complete(
  begin: () => Dataset | undefined,
  { signal, onProgress }: Control,
): Promise<void> {
  const latest = performance.now() + ROOM_MS;
  for (;;) {
    const dataset = begin();
    if (!dataset && performance.now() > latest) {
      throw new RandomXError(
        "out-of-memory",
        "datasetBytes: expected room for another dataset in this process",
      );
    }
    const done = dataset?.progress() ?? 0;
    onProgress(CACHE_PART + (1 - CACHE_PART) * done);
    if (done === 1) return;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    if (signal.aborted) throw aborted(signal);
  }
}
