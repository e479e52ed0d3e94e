/**
 * The work itself, without a word about workers: a session owns at most one cache (256 MiB)
 * and its machine (16 MiB), and gives way to other tasks about every 20 ms of a fill and
 * after every group of hashes. The worker drives it in browsers, the tests in Node.
 */
import { aborted } from "./errors.js";
import type { Args, Result } from "./protocol.js";

/** The exports of the WebAssembly module that a session uses. */
export type RandomXWasm = Pick<
  typeof import("../pkg/randomx_wasm.js"),
  "CacheBuilder" | "Vm" | "commitment" | "meetsDifficulty" | "seedHeight"
>;

/** How a caller follows and stops one operation. */
export interface Control {
  /** When aborted, the operation ends at its next pause with code `aborted`. */
  signal: AbortSignal;
  /** Hears the part of the cache that is filled, 0 to 1; the last call says 1. */
  onProgress: (done: number) => void;
}

/** Inputs that step through their programs together. */
export const LANES = 8;

/** How long a fill may keep its thread, in milliseconds. */
const TURN_MS = 20;

/** Blocks in the first step of a fill, before the speed is known: a few milliseconds. */
const FIRST_STEP = 2048;

type Vm = InstanceType<RandomXWasm["Vm"]>;
type CacheBuilder = InstanceType<RandomXWasm["CacheBuilder"]>;

/** One operation at a time: the caller awaits each before the next. */
export class Session {
  readonly #wasm: RandomXWasm;
  readonly #pause: () => Promise<void>;
  #held: { key: Uint8Array; vm: Vm } | undefined;

  /** `pause` lets the thread's other tasks run: messages, timers. */
  constructor(wasm: RandomXWasm, pause: () => Promise<void>) {
    this.#wasm = wasm;
    this.#pause = pause;
  }

  /** Fills the cache of `key`, unless it is the one held. The old one's memory goes first. */
  async prepare({ key }: Args<"prepare">, control: Control): Promise<undefined> {
    await this.#vm(key, control);
  }

  /** The hash of an input. */
  async hash({ key, input, version }: Args<"hash">, control: Control): Promise<Result<"hash">> {
    const vm = await this.#vm(key, control);
    return vm.hash(version, input);
  }

  /** The hashes of the inputs, in order. */
  async hashMany(
    { key, inputs, version }: Args<"hashMany">,
    control: Control,
  ): Promise<Result<"hashMany">> {
    const vm = await this.#vm(key, control);
    const hashes: Uint8Array[] = [];
    for (let first = 0; first < inputs.length; first += LANES) {
      if (first > 0) await this.#giveWay(control);
      const group = inputs.slice(first, first + LANES);
      const joined = vm.hashMany(version, group);
      hashes.push(...group.map((_, lane) => joined.slice(lane * 32, (lane + 1) * 32)));
    }
    return hashes;
  }

  /** Whether a block's hash meets its difficulty, and the hash. */
  async verifyBlock(
    { seedHash, hashingBlob, difficulty }: Args<"verifyBlock">,
    control: Control,
  ): Promise<Result<"verifyBlock">> {
    const hash = await this.hash({ key: seedHash, input: hashingBlob, version: 1 }, control);
    return { valid: this.#wasm.meetsDifficulty(hash, difficulty), hash };
  }

  /** The commitment to an input and its hash. */
  commitment({ input, hash }: Args<"commitment">): Result<"commitment"> {
    return this.#wasm.commitment(input, hash);
  }

  /** The seed height of a height. */
  seedHeight({ height }: Args<"seedHeight">): Result<"seedHeight"> {
    return this.#wasm.seedHeight(height);
  }

  /** Gives back the cache and the machine, if any are held. */
  release(): void {
    this.#held?.vm.free();
    this.#held = undefined;
  }

  async #vm(key: Uint8Array, control: Control): Promise<Vm> {
    if (this.#held && equal(this.#held.key, key)) {
      control.onProgress(1);
      return this.#held.vm;
    }
    this.release();
    const vm = await this.#fill(key, control);
    this.#held = { key, vm };
    return vm;
  }

  async #fill(key: Uint8Array, control: Control): Promise<Vm> {
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
      return new this.#wasm.Vm(cache, LANES);
    } finally {
      // The machine, if there is one, keeps the memory.
      cache.free();
    }
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
      await this.#giveWay(control);
    }
  }

  async #giveWay(control: Control): Promise<void> {
    await this.#pause();
    if (control.signal.aborted) throw aborted(control.signal);
  }
}

function equal(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}
