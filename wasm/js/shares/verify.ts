/** Verifying shares: many at once, each answered as soon as it is hashed. */
import { aborted, asRandomXError, invalidArgument, type RandomXError } from "../errors.js";
import { sizeOf } from "../inputs.js";
import type { Answer, Hashing } from "../job.js";
import { equal } from "../bytes.js";
import type { Scheduler } from "../scheduler.js";
import * as validate from "../validate.js";
import { checkShare, type CheckedShare, type Share } from "./share.js";
import { difficultyOf, valueOf } from "./target.js";

/** The verdict on a share. */
export type ShareVerdict =
  | {
      /**
       * `valid`: the hash meets the target, and is the claimed one if there is a claim. `wrong-hash`: the
       * miner claims another hash. `low-difficulty`: the hash does not meet the target.
       */
      status: "valid" | "wrong-hash" | "low-difficulty";
      /** The RandomX hash, 32 bytes. */
      hash: Uint8Array;
      /** The greatest difficulty that the hash meets. A block is found if the network's is not above it. */
      difficulty: bigint;
    }
  | {
      /** `expired`: the share's `timeout` went by. */
      status: "expired";
    }
  | {
      /** `failed`: there is no verdict, such as when a worker died or the call was aborted. */
      status: "failed";
      /** The reason, with the codes of {@link RandomX.hash}. */
      error: RandomXError;
    };

/** @internal Verifies shares. Refuses all of them if one is malformed, or if the queue has no room. */
export function verifyShares(
  scheduler: Scheduler,
  shares: readonly Share[],
  signal: AbortSignal | undefined,
): Promise<ShareVerdict>[] {
  const entries = validate.reading("shares", () => {
    const given: unknown = shares;
    if (!Array.isArray(given)) throw invalidArgument("shares", "expected an array");
    scheduler.check(given.length, signal);
    return Array.from(given, (entry: unknown) => entry);
  });
  let bytes = 0;
  const checked = entries.map((entry, index) => {
    const share = checkShare(`shares[${index}]`, entry);
    bytes += share.key.length + sizeOf(share.input);
    // Before the next one is copied.
    scheduler.check(entries.length, signal, bytes);
    return share;
  });
  const call = signal && checked.length > 0 ? new AbortableCall(signal) : undefined;
  return checked.map(
    (share) => new Promise((resolve) => new Verification(scheduler, share, resolve, call)),
  );
}

/**
 * A share that waits for its verdict. A pool has thousands of them, so each costs one promise, and a timer
 * if it has a deadline.
 */
class Verification implements Answer<Uint8Array[]> {
  readonly #share: CheckedShare;
  readonly #scheduler: Scheduler;
  readonly #settle: (verdict: ShareVerdict) => void;
  readonly #call: AbortableCall | undefined;
  readonly #job: Hashing;
  readonly #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    scheduler: Scheduler,
    share: CheckedShare,
    settle: (verdict: ShareVerdict) => void,
    call: AbortableCall | undefined,
  ) {
    const { key, version, priority, input, timeout } = share;
    this.#scheduler = scheduler;
    this.#share = share;
    this.#settle = settle;
    this.#call = call;
    call?.open.add(this);
    this.#job = scheduler.begin({ key, version, priority, inputs: [input] }, this);
    if (timeout !== undefined) this.#timer = setTimeout(expire, timeout, this);
  }

  resolve([hash]: Uint8Array[]): void {
    this.#answer(judged(this.#share, hash ?? new Uint8Array()));
  }

  reject(thrown: RandomXError): void {
    this.#answer({ status: "failed", error: asRandomXError(thrown) });
  }

  /** Gives the verdict of a share whose time is over. */
  expire(): void {
    this.#end({ status: "expired" });
    this.#scheduler.expire(this.#job);
  }

  /** Gives the verdict of a share whose call was aborted. */
  abort(error: RandomXError): void {
    this.#end({ status: "failed", error });
    this.#scheduler.drop(this.#job);
  }

  #end(verdict: ShareVerdict): void {
    this.#job.end();
    this.#answer(verdict);
  }

  #answer(verdict: ShareVerdict): void {
    clearTimeout(this.#timer);
    this.#call?.close(this);
    this.#settle(verdict);
  }
}

function expire(verification: Verification): void {
  verification.expire();
}

/** Ends the shares of a call when its signal is aborted. */
class AbortableCall {
  /** The shares without a verdict. */
  readonly open = new Set<Verification>();
  readonly #signal: AbortSignal;
  readonly #abort = (): void => {
    const error = aborted(this.#signal);
    for (const verification of this.open) verification.abort(error);
  };

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener("abort", this.#abort);
  }

  /** Forgets a share, and after the last one the signal. */
  close(verification: Verification): void {
    this.open.delete(verification);
    if (this.open.size === 0) this.#signal.removeEventListener("abort", this.#abort);
  }
}

function judged({ most, claimed }: CheckedShare, hash: Uint8Array): ShareVerdict {
  if (hash.length === 0) {
    const error = invalidArgument("block", "expected a block template with these changes");
    return { status: "failed", error };
  }
  const value = valueOf(hash);
  const difficulty = difficultyOf(value);
  if (claimed && !equal(claimed, hash)) return { status: "wrong-hash", hash, difficulty };
  return { status: value <= most ? "valid" : "low-difficulty", hash, difficulty };
}
