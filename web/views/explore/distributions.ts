/** Draws the figures of many hashes. */
import type { Figure } from "../../plot/figure.js";
import { bars, histogram, type Bin } from "../../plot/plots.js";
import { duration, whole } from "../../shell/words.js";
import type { Figures } from "../../engine/explorer/protocol.js";

/** The intervals of a distribution of times. */
const TIME_BINS = 24;

/** The fraction of all times that the intervals are made for. */
const TYPICAL = 0.95;

/** Draws a picture of the figures. */
export type Draw = (figures: Figures, width: number) => Figure;

/** Draws the instructions that ran, beside the specification's frequencies. */
export const instructions: Draw = ({ instructions }, width) =>
  bars(
    {
      caption: "Instructions that ran, in 256; the marks are the specification’s frequencies",
      x: "of 256 that ran",
      y: "instruction",
    },
    instructions.map(({ name, nominal, executedShare }) => {
      return { name, value: 256 * executedShare, expected: 256 * nominal };
    }),
    width,
  );

/** Draws the values of group F. */
export const groupF: Draw = ({ f }, width) =>
  histogram(
    {
      caption: "Values of registers f0 to f3; each label is the end of the interval nearer to zero",
      x: "value",
      y: "values",
    },
    // One interval is from -1 to 1. Below it, the right end is nearer to zero.
    intervals(f).map((interval) => {
      const { from, to } = interval;
      return bin(interval, from === -1 ? "0" : power(from < 0 ? to : from));
    }),
    width,
  );

/** Draws the values of group E. */
export const groupE: Draw = ({ e }, width) =>
  histogram(
    {
      caption: "Values of registers e0 to e3; each label is the left end of the interval",
      x: "value",
      y: "values",
    },
    intervals(e).map((interval) => bin(interval, power(interval.from))),
    width,
  );

/** Draws the times of programs. */
export const programTimes: Draw = ({ programTimes }, width) =>
  times("Programs by their run time, without dataset items", "programs", programTimes, width);

/** Draws the times of hashes. */
export const hashTimes: Draw = ({ hashTimes }, width) =>
  times("Hashes by their run time", "hashes", hashTimes, width);

const PHASES: Record<string, string> = {
  fill: "filling the scratchpad",
  generate: "generating programs",
  compile: "preparing programs",
  execute: "running programs",
  items: "dataset items",
  finish: "hashing the scratchpad",
};

/** Draws the times of a hash's phases. */
export const phases: Draw = ({ phases }, width) =>
  bars(
    { caption: "Phases of a hash, in milliseconds", x: "ms", y: "phase" },
    phases.map(({ name, milliseconds }) => ({ name: PHASES[name] ?? name, value: milliseconds })),
    width,
  );

function times(caption: string, y: string, values: number[], width: number): Figure {
  const sorted = [...values].sort((a, b) => a - b);
  const least = sorted[0] ?? 0;
  const greatest = sorted.at(-1) ?? 0;
  // The last bar holds the longest times. Intervals for these would push all others into one bar.
  const typical = sorted[Math.floor(TYPICAL * (sorted.length - 1))] ?? greatest;
  const step = Math.max((typical - least) / (TIME_BINS - 1), 0.01);
  const digits = step < 1 ? 2 : 0;
  const bins = Array.from({ length: TIME_BINS }, (_none, at): Bin => {
    const from = (least + at * step).toFixed(digits);
    if (at === TIME_BINS - 1) {
      return { name: `≥ ${from}`, range: `${from} ms or more`, count: 0, isOverflow: true };
    }
    return {
      name: from,
      range: `${from} to ${(least + (at + 1) * step).toFixed(digits)} ms`,
      count: 0,
    };
  });
  for (const value of values) {
    const bin = bins[Math.min(TIME_BINS - 1, Math.floor((value - least) / step))];
    if (bin) bin.count += 1;
  }
  const spread = `${duration(least)} to ${duration(greatest)}`;
  const labels = { caption: `${caption}: ${whole(values.length)}, ${spread}`, x: "ms", y };
  return histogram(labels, bins, width);
}

/** An interval of values. */
interface Interval {
  from: number;
  to: number;
  count: number;
}

/** Returns the intervals without empty ones at either end. */
function intervals({ edges, counts }: Figures["e"]): Interval[] {
  const all = counts.map((count, at) => ({
    from: edges[at - 1] ?? -Infinity,
    to: edges[at] ?? Infinity,
    count,
  }));
  const first = all.findIndex(({ count }) => count > 0);
  const last = all.findLastIndex(({ count }) => count > 0);
  return all.slice(Math.max(0, first), last + 1);
}

/**
 * Makes the bar of an interval. The first and the last interval have no other end. Infinity may be an
 * interval of its own, after the largest numbers.
 */
function bin({ from, to, count }: Interval, name: string): Bin {
  if (from === -Infinity) {
    return { name: `< ${power(to)}`, range: `less than ${power(to)}`, count, isOverflow: true };
  }
  if (from === Infinity) return { name: "∞", range: "infinity", count, isOverflow: true };
  if (to === Infinity) {
    return { name: `≥ ${power(from)}`, range: `${power(from)} or more`, count, isOverflow: true };
  }
  return { name, range: `${power(from)} to ${power(to)}`, count };
}

function power(value: number): string {
  return value.toExponential(0).replace("e+", "e");
}
