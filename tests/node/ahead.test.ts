/** Going ahead of a fill. */
import { expect, test } from "vitest";
import { goAhead, moveFront, newFront } from "../../wasm/js/ahead.js";

const PAGE = 4096;

/** A memory like a cache's, of 64 pages of the system's size. */
function memory(): WebAssembly.Memory {
  return new WebAssembly.Memory({ initial: 4, maximum: 4, shared: true });
}

test("what is there stays", () => {
  const { buffer } = memory();
  const bytes = new Uint8Array(buffer).fill(0xa5);
  goAhead({ buffer } as WebAssembly.Memory, newFront());
  expect(bytes.every((byte) => byte === 0xa5)).toBe(true);
});

test("each page that the front has not reached is touched once", () => {
  const touched: number[] = [];
  const { add } = Atomics;
  Atomics.add = ((words: Int32Array, index: number, value: number) => {
    if (value === 0) touched.push((4 * index) / PAGE);
    return add(words, index, value);
  }) as typeof add;
  try {
    const front = newFront();
    moveFront(front, PAGE);
    moveFront(front, PAGE + 1);
    goAhead(memory(), front);
  } finally {
    Atomics.add = add;
  }
  expect(touched).toEqual(Array.from({ length: 61 }, (_, page) => page + 3));
});
