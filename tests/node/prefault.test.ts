/** Prefaulting the memory of a cache. */
import { expect, test } from "vitest";
import { advance, newFillCursor, prefault } from "../../wasm/js/prefault.js";

const PAGE = 4096;

/** Returns a memory like a cache's, of 64 pages of the system's size. */
function memory(): WebAssembly.Memory {
  return new WebAssembly.Memory({ initial: 4, maximum: 4, shared: true });
}

test("leaves the content unchanged", () => {
  const { buffer } = memory();
  const bytes = new Uint8Array(buffer).fill(0xa5);
  prefault({ buffer } as WebAssembly.Memory, newFillCursor());
  expect(bytes.every((byte) => byte === 0xa5)).toBe(true);
});

test("touches each page after the cursor once", () => {
  const touched: number[] = [];
  const { add } = Atomics;
  Atomics.add = ((words: Int32Array, index: number, value: number) => {
    if (value === 0) touched.push((4 * index) / PAGE);
    return add(words, index, value);
  }) as typeof add;
  try {
    const cursor = newFillCursor();
    advance(cursor, PAGE);
    advance(cursor, PAGE + 1);
    prefault(memory(), cursor);
  } finally {
    Atomics.add = add;
  }
  expect(touched).toEqual(Array.from({ length: 61 }, (_, page) => page + 3));
});
