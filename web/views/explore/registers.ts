/** Draws how many bits of a register each iteration changes. */
import type { Figure } from "../../plot/figure.js";
import { histogram, type Bin } from "../../plot/plots.js";
import type { Look } from "../../engine/explorer/protocol.js";

/** The names of the registers, in the order of the menu. */
export const REGISTERS = [
  ...group("r", 8),
  ...group("f", 4),
  ...group("e", 4),
] as const satisfies string[];

/** Registers of each kind, and their values in an iteration. A floating point register has two. */
const INTEGERS = 8;
const FLOATS = 16;

/** The bits of an integer, and those of a number's fraction. */
const INTEGER_BITS = 64;
const FRACTION_BITS = 52;

/** Draws the register with this name, or the first. */
export function registers(look: Look, name: string, width: number): Figure {
  const at = Math.max(0, REGISTERS.indexOf(name));
  if (at < INTEGERS) {
    const changes = changed(look.integers, INTEGERS, [at], INTEGER_BITS);
    const caption = `Bits of r${at} that change from one iteration to the next, of ${INTEGER_BITS}`;
    return draw(caption, changes, width);
  }
  const { buffer, byteOffset, length } = look.floats;
  const bits = new BigUint64Array(buffer, byteOffset, length);
  const first = 2 * (at - INTEGERS);
  const changes = changed(bits, FLOATS, [first, first + 1], FRACTION_BITS);
  const caption = `Bits of the fraction that change, in the two halves of ${name}, of ${FRACTION_BITS}`;
  return draw(caption, changes, width);
}

/** Counts how often each number of the lowest `bits` changes between a value and the next. */
function changed(
  values: BigUint64Array,
  stride: number,
  places: readonly number[],
  bits: number,
): number[] {
  const mask = (1n << BigInt(bits)) - 1n;
  const counts = Array.from({ length: bits + 1 }, () => 0);
  for (const place of places) {
    for (let at = place + stride; at < values.length; at += stride) {
      const difference = ((values[at] ?? 0n) ^ (values[at - stride] ?? 0n)) & mask;
      const ones = popcount(difference);
      counts[ones] = (counts[ones] ?? 0) + 1;
    }
  }
  return counts;
}

function popcount(value: bigint): number {
  const half = (word: number): number => {
    const pairs = word - ((word >>> 1) & 0x55555555);
    const nibbles = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
    return (((nibbles + (nibbles >>> 4)) & 0x0f0f0f0f) * 0x01010101) >>> 24;
  };
  return half(Number(value & 0xffffffffn)) + half(Number(value >> 32n));
}

function draw(caption: string, counts: readonly number[], width: number): Figure {
  const all = counts.reduce((sum, count) => sum + count, 0);
  const bits = counts.length - 1;
  // The binomial distribution, from one coefficient to the next.
  let expected = all * 2 ** -bits;
  const bins = counts.map((count, ones): Bin => {
    const bin = { name: String(ones), range: `${ones} bits`, count, expected };
    expected *= (bits - ones) / (ones + 1);
    return bin;
  });
  return histogram({ caption, x: "bits that change", y: "iterations" }, bins, width);
}

function group(letter: string, count: number): string[] {
  return Array.from({ length: count }, (_none, at) => letter + String(at));
}
