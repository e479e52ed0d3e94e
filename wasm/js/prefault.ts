/**
 * Touching the pages of a new memory before the fill reaches them. The system provides a page when
 * it is first written, which takes a fifth of a first fill's time; an idle worker can do that. It
 * adds zero, atomically, so that concurrent writes survive.
 */

/** How far a fill is, in bytes. The filling and the prefaulting worker share it. */
export type FillCursor = Int32Array<SharedArrayBuffer>;

/** The smallest page size of the systems, in bytes. */
const PAGE = 4096;

/** Pages that are touched between two looks at the cursor: less than a millisecond's work. */
const STRETCH = 64;

/** Returns the cursor of a fill that has not begun. */
export function newFillCursor(): FillCursor {
  return new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
}

/** Advances the cursor. Called before that many bytes are written. */
export function advance(cursor: FillCursor, bytes: number): void {
  Atomics.add(cursor, 0, bytes);
}

/** Touches all pages that the fill has not reached. */
export function prefault(memory: WebAssembly.Memory, cursor: FillCursor): void {
  const words = new Int32Array(memory.buffer);
  const step = PAGE / words.BYTES_PER_ELEMENT;
  let next = 0;
  while (next < words.length) {
    next = Math.max(next, step * Math.ceil(Atomics.load(cursor, 0) / PAGE));
    const end = Math.min(words.length, next + STRETCH * step);
    for (; next < end; next += step) Atomics.add(words, next, 0);
  }
}
