/** Draws the values of a register, iteration by iteration. */
import type { Figure } from "../../plot/figure.js";
import { dots } from "../../plot/plots.js";
import type { Look } from "../../engine/explorer/protocol.js";

/** The most points. More would be indistinguishable, and slow. */
const MOST_POINTS = 512;

/** The names of the registers, in the order of the menu. */
export const REGISTERS = [
  ...group("r", 8),
  ...group("f", 4),
  ...group("e", 4),
] as const satisfies string[];

/** Draws the register with this name, or the first. */
export function registers(look: Look, name: string, width: number): Figure {
  const at = Math.max(0, REGISTERS.indexOf(name));
  return at < 8 ? integer(look, at, width) : float(look, at - 8, width);
}

function integer({ integers }: Look, at: number, width: number): Figure {
  const points = every(integers.length / 8, (iteration) => {
    const value = integers[8 * iteration + at] ?? 0n;
    return [iteration, Number(value) / 2 ** 64] as const;
  });
  const labels = {
    caption: `r${at} after the instructions of each iteration, as a fraction of 2^64`,
    x: "iteration",
    y: `r${at} / 2^64`,
  };
  return dots(labels, [{ name: `r${at}`, points }], { width, range: [0, 1] });
}

function float({ floats }: Look, at: number, width: number): Figure {
  const name = at < 4 ? `f${at}` : `e${at - 4}`;
  const half = (which: 0 | 1): (readonly [number, number])[] =>
    every(floats.length / 16, (iteration) => {
      return [iteration, floats[16 * iteration + 2 * at + which] ?? 0] as const;
    }).filter(([, value]) => Number.isFinite(value));
  const labels = {
    caption: `The two halves of ${name} after the instructions of each iteration`,
    x: "iteration",
    y: name,
  };
  const series = [
    { name: `${name}, low`, points: half(0) },
    { name: `${name}, high`, points: half(1) },
  ];
  return dots(labels, series, { width, scale: at < 4 ? "symlog" : "log" });
}

function every<Point>(count: number, point: (iteration: number) => Point): Point[] {
  const step = Math.max(1, Math.ceil(count / MOST_POINTS));
  return Array.from({ length: Math.ceil(count / step) }, (_none, at) => point(at * step));
}

function group(letter: string, count: number): string[] {
  return Array.from({ length: count }, (_none, at) => letter + String(at));
}
