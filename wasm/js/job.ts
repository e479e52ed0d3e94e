/** Requests, from the call to the answer. */
import { aborted, type RandomXError } from "./errors.js";
import type { Args, Hashed, Input, Operation, Result, Times } from "./protocol.js";
import type { Version } from "./validate.js";

/** What a call is at. */
export interface Progress {
  /**
   * `load`: workers are started and load the WebAssembly module. `cache`: the cache of the key is
   * filled. `hash`: inputs are hashed. A call goes through those that it needs, in this order.
   */
  phase: "load" | "cache" | "hash";
  /** The part of the phase that is done, 0 to 1. Each phase that is told of ends with 1. */
  done: number;
}

/** How one request is followed and stopped. */
export interface Follow {
  /** Aborting rejects the request at once. */
  signal?: AbortSignal | undefined;
  /** Hears how far it is. */
  onProgress?: ((progress: Progress) => void) | undefined;
}

/** What needs no cache. */
export type Question = Exclude<
  Operation,
  | "start"
  | "allocate"
  | "fill"
  | "goAhead"
  | "attach"
  | "release"
  | "calibrate"
  | "measure"
  | "hash"
>;

/** What every request is: a promise that may be given up. */
abstract class Request<T> {
  readonly result: Promise<T>;
  #settle!: { resolve: (result: T) => void; reject: (error: RandomXError) => void };
  #forget: () => void = () => undefined;
  #isSettled = false;

  /** `drop` is called when the caller has given up. */
  constructor(signal: AbortSignal | undefined, drop: () => void) {
    this.result = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    if (!signal) return;
    const stop = (): void => {
      this.reject(aborted(signal));
      drop();
    };
    signal.addEventListener("abort", stop);
    this.#forget = () => {
      signal.removeEventListener("abort", stop);
    };
  }

  /** Whether it has been answered, or given up. */
  get isSettled(): boolean {
    return this.#isSettled;
  }

  /** The request has failed. */
  reject(error: RandomXError): void {
    this.#isSettled = true;
    this.#forget();
    this.#settle.reject(error);
  }

  /** The request is answered. */
  resolve(result: T): void {
    this.#isSettled = true;
    this.#forget();
    this.#settle.resolve(result);
  }
}

/** A request that any worker can answer. */
export class Call extends Request<Result<Question>> {
  readonly operation: Question;
  readonly args: Args<Question>;

  constructor(
    operation: Question,
    args: Args<Question>,
    signal: AbortSignal | undefined,
    drop: () => void,
  ) {
    super(signal, drop);
    this.operation = operation;
    this.args = args;
  }
}

/** A request that a key's cache goes when nobody uses it. */
export class Release extends Request<void> {
  readonly key: Uint8Array;

  constructor(key: Uint8Array, signal: AbortSignal | undefined, drop: () => void) {
    super(signal, drop);
    this.key = key;
  }
}

/** Inputs to hash with a key; where there are none, its cache is all that is wanted. */
export class Hashing extends Request<Hashed[]> {
  readonly key: Uint8Array;
  readonly version: Version;
  /** Bytes that it keeps. */
  readonly bytes: number;
  /** Hears what time was spent with; hashes are not told then. */
  readonly onTimes: ((times: Times) => void) | undefined;
  /** Inputs in a batch, once that is known. */
  batch: number | undefined;
  readonly #inputs: readonly Input[];
  readonly #hashes: Hashed[];
  readonly #onProgress: (progress: Progress) => void;
  #handedOut = 0;
  #hasCache = false;
  #missing: number;

  /** `drop` is called when the caller has given up. */
  constructor(
    request: {
      key: Uint8Array;
      version: Version;
      inputs: readonly Input[];
      onTimes?: (times: Times) => void;
    },
    follow: Follow,
    drop: () => void,
  ) {
    super(follow.signal, drop);
    this.key = request.key;
    this.version = request.version;
    this.onTimes = request.onTimes;
    this.bytes = request.inputs.reduce((sum, { bytes }) => sum + bytes.length, this.key.length);
    this.#inputs = request.inputs;
    this.#missing = request.inputs.length;
    this.#hashes = new Array<Hashed>(this.#missing);
    this.#onProgress = follow.onProgress ?? (() => undefined);
  }

  /** Inputs that no worker has yet. */
  get waiting(): number {
    return this.#inputs.length - this.#handedOut;
  }

  /** The next inputs, at most so many, and where their hashes belong. */
  handOut(most: number): { inputs: readonly Input[]; first: number } {
    const first = this.#handedOut;
    const inputs = this.#inputs.slice(first, first + most);
    this.#handedOut += inputs.length;
    return { inputs, first };
  }

  /** The part of the cache that is filled; of all of it, it is told once. */
  filled(done: number): void {
    if (this.#hasCache) return;
    this.#hasCache = done === 1;
    this.#tell({ phase: "cache", done });
    if (this.#hasCache && this.#missing > 0) this.#tell({ phase: "hash", done: 0 });
  }

  /** Takes the hashes of so many inputs, or of none; the last one resolves the request. */
  take(first: number, hashes: readonly Hashed[], count: number): void {
    if (this.isSettled) return;
    hashes.forEach((hash, index) => {
      this.#hashes[first + index] = hash;
    });
    this.#missing -= count;
    if (count > 0) this.#tell({ phase: "hash", done: 1 - this.#missing / this.#inputs.length });
    if (this.#missing === 0) this.resolve(this.#hashes);
  }

  /** What the listener throws is its own, and must not be taken for a failure here. */
  #tell(progress: Progress): void {
    try {
      this.#onProgress(progress);
    } catch (thrown) {
      queueMicrotask(() => {
        throw thrown;
      });
    }
  }
}

/** A request that waits for its turn. */
export type Job = Call | Hashing | Release;

/** Whether two keys are the same. */
export function equal(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}
