/** Requests, from the call to the answer. */
import { aborted, type RandomXError } from "./errors.js";
import type { Linked } from "./list.js";
import { bytesIn, sizeOf } from "./inputs.js";
import type { Args, Input, Operation, Result } from "./protocol.js";
import type { Follow, Priority, Progress, Times, Version } from "./types.js";

/** Operations of a call that need no cache. */
export type Question = Exclude<
  Operation,
  "start" | "allocate" | "fill" | "keep" | "attach" | "release" | "measure" | "hash"
>;

/** Receives how a request ends: one call of one function. */
export interface Answer<T> {
  resolve: (result: T) => void;
  reject: (error: RandomXError) => void;
}

/** A request that the caller can abort, and an entry of a list that waits. */
abstract class Request<T, Entry> implements Linked<Entry> {
  /** Its number in the order of the queue, or 0 outside the queue. */
  place = 0;
  /** Its priority. */
  priority: Priority = "normal";
  /** Whether a cache must be filled anew for it. */
  isFresh = false;
  previous: Entry | undefined;
  next: Entry | undefined;
  /** The bytes that wait with it. */
  abstract readonly bytes: number;
  readonly #answer: Answer<T>;
  #forget: (() => void) | undefined;
  #isSettled = false;

  constructor(answer: Answer<T>) {
    this.#answer = answer;
  }

  /** Rejects when a signal is aborted, and then calls `drop`. */
  abortWith(signal: AbortSignal, drop: () => void): void {
    const stop = (): void => {
      this.reject(aborted(signal));
      drop();
    };
    signal.addEventListener("abort", stop);
    this.#forget = () => {
      signal.removeEventListener("abort", stop);
    };
  }

  /** Whether the request was answered, has failed, or was aborted. */
  get isSettled(): boolean {
    return this.#isSettled;
  }

  /** Fails the request. */
  reject(error: RandomXError): void {
    if (this.#isSettled) return;
    this.end();
    this.#answer.reject(error);
  }

  /** Answers the request. */
  resolve(result: T): void {
    if (this.#isSettled) return;
    this.end();
    this.#answer.resolve(result);
  }

  /** Ends the request without an answer, which nobody waits for. */
  end(): void {
    this.#isSettled = true;
    this.#forget?.();
  }
}

/** A request that any worker can answer. */
export class Call extends Request<Result<Question>, Call> {
  readonly operation: Question;
  readonly args: Args<Question>;
  readonly bytes: number;

  constructor(operation: Question, args: Args<Question>, answer: Answer<Result<Question>>) {
    super(answer);
    this.operation = operation;
    this.args = args;
    this.bytes = bytesIn(args);
  }
}

/** A request to release a key's cache once nobody uses it. */
export class Release extends Request<void, KeyJob> {
  readonly key: Uint8Array;
  readonly bytes: number;

  constructor(key: Uint8Array, answer: Answer<void>) {
    super(answer);
    this.key = key;
    this.bytes = key.length;
  }
}

/** The arguments of a request for hashes. */
export interface HashRequest<I extends readonly Input[] = readonly Input[]> {
  key: Uint8Array;
  version: Version;
  inputs: I;
  /** The priority, by default `normal`. */
  priority?: Priority;
  /** Receives the times so far, several times. One worker hashes all inputs then, and returns no hashes. */
  onTimes?: (times: Times) => void;
  /** Whether a request without inputs fills the cache like one for a hash, not in the background. */
  isUrgent?: boolean;
  /** Whether the cache is filled anew before, because one that is held or kept may be wrong. */
  isFresh?: boolean;
}

/** A request to hash inputs with a key. Without inputs it only fills the cache. */
export class Hashing extends Request<Uint8Array[], KeyJob> {
  readonly key: Uint8Array;
  readonly version: Version;
  readonly bytes: number;
  /** Receives the times, if the request is to measure. */
  readonly onTimes: ((times: Times) => void) | undefined;
  /** Whether inputs are blocks, which Monero's rules turn into hashing blobs. */
  readonly needsRules: boolean;
  /** Inputs in a batch, once that is known. */
  batch: number | undefined;
  readonly #isUrgent: boolean;
  readonly #inputs: readonly Input[];
  readonly #hashes: Uint8Array[];
  readonly #onProgress: Follow["onProgress"];
  #handedOut = 0;
  #hasCache = false;
  #missing: number;

  constructor(
    request: HashRequest,
    answer: Answer<Uint8Array[]>,
    onProgress?: Follow["onProgress"],
  ) {
    super(answer);
    this.key = request.key;
    this.version = request.version;
    this.onTimes = request.onTimes;
    this.needsRules = request.inputs.some(({ isBlock }) => isBlock);
    this.bytes = request.inputs.reduce((sum, input) => sum + sizeOf(input), this.key.length);
    this.priority = request.priority ?? "normal";
    this.isFresh = request.isFresh ?? false;
    this.#isUrgent = request.isUrgent ?? false;
    this.#inputs = request.inputs;
    this.#missing = request.inputs.length;
    this.#hashes = new Array<Uint8Array>(this.#missing);
    this.#onProgress = onProgress;
  }

  /** Whether the request only fills the cache, for later requests. */
  get isFill(): boolean {
    return this.#inputs.length === 0 && !this.#isUrgent;
  }

  /** Whether this request and those of its key behind it only fill the cache. */
  get isOnlyFill(): boolean {
    if (!this.isFill) return false;
    for (let job = this.next; job; job = job.next) {
      if (job instanceof Hashing && !job.isFill) return false;
    }
    return true;
  }

  /** Inputs that no worker has yet. */
  get waiting(): number {
    return this.#inputs.length - this.#handedOut;
  }

  /** Hands out the next inputs, at most so many, with the index of the first. */
  handOut(most: number): { inputs: readonly Input[]; first: number } {
    const first = this.#handedOut;
    const inputs = this.#inputs.slice(first, first + most);
    this.#handedOut += inputs.length;
    return { inputs, first };
  }

  /** Reports the part of the cache that is filled. Completion is reported once. */
  filled(done: number): void {
    if (this.#hasCache) return;
    this.#hasCache = done === 1;
    this.#report({ phase: "cache", done });
    if (this.#hasCache && this.#missing > 0) this.#report({ phase: "hash", done: 0 });
  }

  /** Takes the hashes of `count` inputs. The last ones resolve the request. */
  take(first: number, hashes: readonly Uint8Array[], count: number): void {
    if (this.isSettled) return;
    hashes.forEach((hash, index) => {
      this.#hashes[first + index] = hash;
    });
    this.#missing -= count;
    if (count > 0) this.#report({ phase: "hash", done: 1 - this.#missing / this.#inputs.length });
    if (this.#missing === 0) this.resolve(this.#hashes);
  }

  #report(progress: Progress): void {
    report(this.#onProgress, progress);
  }
}

/** A request that needs the cache of a key, or releases it. */
export type KeyJob = Hashing | Release;

/** A request that waits. */
export type Job = Call | KeyJob;

/** Returns a listener for the phase `cache` alone: where inputs arrive one by one, their number is not known. */
export function onlyCache(listener: Follow["onProgress"]): NonNullable<Follow["onProgress"]> {
  return (progress) => {
    if (progress.phase === "cache") listener?.(progress);
  };
}

/** Calls a caller's listener. An error in it is the caller's: it surfaces as uncaught. */
export function report(listener: Follow["onProgress"], progress: Progress): void {
  try {
    listener?.(progress);
  } catch (thrown) {
    queueMicrotask(() => {
      throw thrown;
    });
  }
}
