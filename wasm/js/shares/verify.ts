/** Verifying shares: many at once, each answered as soon as it is hashed. */
import { asRandomXError, invalidArgument, type RandomXError } from "../errors.js";
import { sizeOf } from "../inputs.js";
import { equal } from "../queue.js";
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

/** Verifies shares. Refuses all of them if one is malformed, or if the queue has no room. */
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
  const checked = entries.map((entry, index) => checkShare(`shares[${index}]`, entry));
  const bytes = checked.reduce((sum, { key, input }) => sum + key.length + sizeOf(input), 0);
  scheduler.check(checked.length, signal, bytes);
  return checked.map((share) => verdictOn(scheduler, share, signal));
}

/** Returns the verdict on a share. The promise never rejects. */
async function verdictOn(
  scheduler: Scheduler,
  share: CheckedShare,
  signal: AbortSignal | undefined,
): Promise<ShareVerdict> {
  const deadline = new Deadline(share.timeout, signal);
  const { key, version, priority, input } = share;
  try {
    const request = { key, version, priority, inputs: [input] as const };
    const [{ hash }] = await scheduler.hash(request, { signal: deadline.signal });
    return judged(share, hash);
  } catch (thrown) {
    if (deadline.isOver) return { status: "expired" };
    return { status: "failed", error: asRandomXError(thrown) };
  } finally {
    deadline.clear();
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

/** Aborts after a time, or with another signal. */
class Deadline {
  /** Is aborted then. */
  readonly signal: AbortSignal | undefined;
  /** Whether the time is over. */
  isOver = false;
  /** Forgets the timer and the other signal. */
  readonly clear: () => void = () => undefined;

  constructor(timeout: number | undefined, signal: AbortSignal | undefined) {
    this.signal = signal;
    if (timeout === undefined) return;
    const stop = new AbortController();
    const end = (): void => {
      stop.abort(signal?.reason);
    };
    const timer = setTimeout(() => {
      this.isOver = true;
      stop.abort();
    }, timeout);
    signal?.addEventListener("abort", end);
    this.signal = stop.signal;
    this.clear = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
    };
  }
}
