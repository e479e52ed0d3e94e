/** Requests, from the call to the answer. */
import { RandomXError, aborted } from "./errors.js";
import type { Args, Hashed, Input, Result, Times } from "./protocol.js";
import type { Version } from "./validate.js";

/** How one request is followed and stopped. */
export interface Follow {
  /** Aborting rejects the request at once. */
  signal?: AbortSignal | undefined;
  /** Hears the part of the cache that is filled, 0 to 1. */
  onProgress?: ((done: number) => void) | undefined;
}

/** What needs no cache. */
export type Question = "commitment" | "seedHeight";

/** A request that any worker can answer. */
export interface Call<O extends Question = Question> {
  kind: "call";
  operation: O;
  args: Args<O>;
  resolve: (result: Result<O>) => void;
  reject: (error: RandomXError) => void;
}

/** Inputs to hash with a key; where there are none, its cache is all that is wanted. */
export class Hashing {
  readonly kind = "hashing";
  readonly key: Uint8Array;
  readonly version: Version;
  readonly result: Promise<Hashed[]>;
  /** Hears what time was spent with; hashes are not told then. */
  readonly onTimes: ((times: Times) => void) | undefined;
  /** Inputs in a batch, once that is known. */
  batch: number | undefined;
  readonly #inputs: readonly Input[];
  readonly #hashes: Hashed[];
  readonly #follow: Follow;
  #handedOut = 0;
  #isTold = false;
  #missing: number;
  #settle!: { resolve: (hashes: Hashed[]) => void; reject: (error: RandomXError) => void };
  #forget: () => void = () => undefined;

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
    this.key = request.key;
    this.version = request.version;
    this.onTimes = request.onTimes;
    this.#inputs = request.inputs;
    this.#missing = request.inputs.length;
    this.#hashes = new Array<Hashed>(this.#missing);
    this.#follow = follow;
    this.result = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    const { signal } = follow;
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

  /** Takes the hashes of so many inputs, or of none; the last one resolves the request. */
  take(first: number, hashes: readonly Hashed[], count: number): void {
    hashes.forEach((hash, index) => {
      this.#hashes[first + index] = hash;
    });
    this.#missing -= count;
    if (this.#missing > 0) return;
    this.#forget();
    this.#settle.resolve(this.#hashes);
  }

  /** Tells the part of the cache that is filled, and all of it only once. */
  tell(done: number): void {
    if (this.#isTold) return;
    this.#isTold = done === 1;
    this.#follow.onProgress?.(done);
  }

  /** The request has failed. */
  reject(error: RandomXError): void {
    this.#forget();
    this.#settle.reject(error);
  }
}

/** A request that waits for its turn. */
export type Job = Call | Hashing;

/** Whether two keys are the same. */
export function equal(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}
