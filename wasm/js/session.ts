/**
 * A worker's own work, without a word about workers: one cache and the machine that hashes with
 * it. A fill gives way to other tasks about every 20 ms. The worker drives it in browsers and in
 * Node, the tests without one.
 */
import { aborted } from "./errors.js";
import type { Args, Cache, Hashed, Machine, Result } from "./protocol.js";

/** The exports of the WebAssembly module that a session uses. */
export type RandomXWasm = Pick<
  typeof import("../pkg/randomx_wasm.js"),
  "CacheBuilder" | "Vm" | "commitment" | "meetsDifficulty" | "seedHeight"
>;

/** How a caller follows and stops a fill. */
export interface Control {
  /** When aborted, the fill ends at its next pause with code `aborted`. */
  signal: AbortSignal;
  /** Hears the part of the cache that is filled, 0 to 1; the last call says 1. */
  onProgress: (done: number) => void;
}

/** How long a fill may keep its thread, in milliseconds. */
const TURN_MS = 20;

/** Blocks in the first step of a fill, before the speed is known: a few milliseconds. */
const FIRST_STEP = 2048;

const HASH_SIZE = 32;

type Vm = InstanceType<RandomXWasm["Vm"]>;
type CacheBuilder = InstanceType<RandomXWasm["CacheBuilder"]>;

/** One operation at a time: the caller awaits each before the next. */
export class Session {
  readonly #wasm: RandomXWasm;
  readonly #lanes: number;
  readonly #pause: () => Promise<void>;
  #vm: Vm | undefined;

  /** `pause` lets the thread's other tasks run: messages, timers. */
  constructor(wasm: RandomXWasm, lanes: number, pause: () => Promise<void>) {
    this.#wasm = wasm;
    this.#lanes = lanes;
    this.#pause = pause;
  }

  /** The memory of a cache, for one key after another. */
  allocate(): Result<"allocate"> {
    return undefined;
  }

  /** Fills the cache of a key; the last one's memory is used again. */
  async fill({ key }: Args<"fill">, control: Control): Promise<Cache> {
    this.release();
    const builder = new this.#wasm.CacheBuilder(key);
    try {
      await this.#fillInSteps(builder, control);
    } catch (error) {
      // After a trap the module is lost, and freeing would only hide the first error.
      if (!(error instanceof WebAssembly.RuntimeError)) builder.free();
      throw error;
    }
    const cache = builder.finish();
    try {
      this.#vm = new this.#wasm.Vm(cache, this.#lanes);
    } finally {
      // The machine, if there is one, keeps the memory.
      cache.free();
    }
    return { key, memory: undefined };
  }

  /** Uses a cache that another worker has filled. */
  async attach({ cache }: Args<"attach">): Promise<undefined> {
    const control = { signal: new AbortController().signal, onProgress: () => undefined };
    await this.fill({ key: cache.key, memory: cache.memory }, control);
  }

  /** The fastest of some machines. */
  calibrate({ machines }: Args<"calibrate">): Machine {
    const [machine] = machines;
    if (!machine) throw new Error("there is no machine");
    return machine;
  }

  /** The hashes of the inputs, in order. */
  hash({ version, inputs }: Args<"hash">): Hashed[] {
    if (!this.#vm) throw new Error("there is no cache");
    const joined = this.#vm.hashMany(
      version,
      inputs.map(({ bytes }) => bytes),
    );
    return inputs.map(({ difficulty }, index) => {
      const hash = joined.slice(index * HASH_SIZE, (index + 1) * HASH_SIZE);
      const valid = difficulty === undefined || this.#wasm.meetsDifficulty(hash, difficulty);
      return { hash, valid };
    });
  }

  /** The commitment to an input and its hash. */
  commitment({ input, hash }: Args<"commitment">): Result<"commitment"> {
    return this.#wasm.commitment(input, hash);
  }

  /** The seed height of a height. */
  seedHeight({ height }: Args<"seedHeight">): Result<"seedHeight"> {
    return this.#wasm.seedHeight(height);
  }

  /** Gives back the machine and what it uses. */
  release(): void {
    this.#vm?.free();
    this.#vm = undefined;
  }

  async #fillInSteps(builder: CacheBuilder, control: Control): Promise<void> {
    control.onProgress(0);
    let step = FIRST_STEP;
    for (;;) {
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
