/** Filling a cache in steps that take some 20 ms each, so that the worker reads its messages between. */
import { aborted } from "./errors.js";

/** How a caller follows and stops a fill. */
export interface Control {
  /** When aborted, the fill ends at its next pause with code `aborted`. */
  signal: AbortSignal;
  /** Receives the part of the cache that is filled, 0 to 1. The last call gets 1. */
  onProgress: (done: number) => void;
}

/** A cache that is being filled. */
export interface Fillable {
  /** Fills at most some more blocks, and returns the part that is done, 0 to 1. */
  fill: (blocks: number) => number;
}

/** How long a fill may block its thread, in milliseconds. */
const TURN_MS = 20;

/** Blocks in the first step of a fill, before the speed is known: a few milliseconds. */
const FIRST_STEP = 2048;

/** The part of a fill after which every block has been written once: one of three passes. */
const FIRST_PASS = 1 / 3;

/**
 * Fills a cache. `pause` lets the thread run other tasks, such as messages and timers.
 * `afterFirstPass` is called once, when all blocks have been written.
 */
export async function fillInSteps(
  builder: Fillable,
  control: Control,
  pause: () => Promise<void>,
  afterFirstPass?: () => void,
): Promise<void> {
  control.onProgress(0);
  let step = FIRST_STEP;
  let written = false;
  for (;;) {
    const start = performance.now();
    const done = builder.fill(step);
    const ms = performance.now() - start;
    control.onProgress(done);
    if (done >= 1) return;
    if (!written && done >= FIRST_PASS) {
      written = true;
      afterFirstPass?.();
    }
    // At most doubled, so that one interrupted step does not set the size alone.
    step = Math.max(1, Math.min(2 * step, Math.floor((step * TURN_MS) / ms)));
    await pause();
    if (control.signal.aborted) throw aborted(control.signal);
  }
}
