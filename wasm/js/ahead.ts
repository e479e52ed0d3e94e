/**
 * Touching the pages of a memory ahead of who fills it. The system gives a page when it is first
 * written to, which is a fifth of a first fill's time; a worker that has nothing else to do can take
 * that over. It adds zero, atomically, so that whatever is written there meanwhile stays.
 */

/** How far a fill is, in bytes, for who goes ahead of it. */
export type Front = Int32Array<SharedArrayBuffer>;

/** The least that systems give at a time, in bytes. */
const PAGE = 4096;

/** Pages that are touched before the front is looked at again: less than a millisecond's work. */
const STRETCH = 64;

/** The front of a fill that has not begun. */
export function newFront(): Front {
  return new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
}

/** Moves the front before so many bytes more are written. */
export function moveFront(front: Front, bytes: number): void {
  Atomics.add(front, 0, bytes);
}

/** Touches all pages that the front has not reached. */
export function goAhead(memory: WebAssembly.Memory, front: Front): void {
  const words = new Int32Array(memory.buffer);
  const step = PAGE / words.BYTES_PER_ELEMENT;
  let next = 0;
  while (next < words.length) {
    next = Math.max(next, step * Math.ceil(Atomics.load(front, 0) / PAGE));
    const end = Math.min(words.length, next + STRETCH * step);
    for (; next < end; next += step) Atomics.add(words, next, 0);
  }
}
