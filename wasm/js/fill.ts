/** Filling a cache in steps that take some 20 ms each, so that the worker reads its messages between. */
import { aborted } from "./errors.js";
import { advance, type FillCursor } from "./prefault.js";

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

/** Bytes of a block. A fill writes blocks. */
const BLOCK_SIZE = 1024;

/** Blocks in the first step of a fill, before the speed is known: a few milliseconds. */
const FIRST_STEP = 2048;

/** Fills a cache. `pause` lets the thread run other tasks, such as messages and timers. */
export async function fillInSteps(
  builder: Fillable,
  control: Control,
  pause: () => Promise<void>,
  cursor?: FillCursor,
): Promise<void> {
  control.onProgress(0);
  let step = FIRST_STEP;
  for (;;) {
    if (cursor) advance(cursor, step * BLOCK_SIZE);
    const start = performance.now();
    const done = builder.fill(step);
    const ms = performance.now() - start;
    control.onProgress(done);
    if (done >= 1) return;
    // At most doubled, so that one interrupted step does not set the size alone.
    step = Math.max(1, Math.min(2 * step, Math.floor((step * TURN_MS) / ms)));
    await pause();
    if (control.signal.aborted) throw aborted(control.signal);
  }
}
