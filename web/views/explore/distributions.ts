/** Figures of many hashes, as pictures. */
import type { Figure } from "../../plot/figure.js";
import { bars, histogram, type Bin } from "../../plot/plots.js";
import { duration, whole } from "../../shell/words.js";
import type { Figures } from "../../engine/explorer/protocol.js";

/** Intervals of a distribution of times. */
const TIME_BINS = 24;

/** The part of all times that the intervals are made for. */
const USUAL = 0.95;

/** A picture of the figures. */
export type Draw = (figures: Figures, width: number) => Figure;

/** Which instructions ran, beside the specification's frequencies. */
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

/** Values of group F. */
export const groupF: Draw = ({ f }, width) =>
  histogram(
    {
      caption:
        "Values of registers f0 to f3, each interval named by its end that is nearer to zero",
      x: "value",
      y: "values",
    },
    signedBins(f),
    width,
  );

/** Values of group E. */
export const groupE: Draw = ({ e }, width) =>
  histogram(
    {
      caption: "Values of registers e0 to e3, each interval named by its left end",
      x: "value",
      y: "values",
    },
    bins(e).map(({ from, count }) => ({ name: power(from), count })),
    width,
  );

/** Times of programs. */
export const programTimes: Draw = ({ programTimes }, width) =>
  times("Programs by their run time, without dataset items", "programs", programTimes, width);

/** Times of hashes. */
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

/** What a hash spends its time with. */
export const phases: Draw = ({ phases }, width) =>
  bars(
    { caption: "What a hash spends its time with, in milliseconds", x: "ms", y: "what" },
    phases.map(({ name, milliseconds }) => ({ name: PHASES[name] ?? name, value: milliseconds })),
    width,
  );

function times(caption: string, y: string, values: number[], width: number): Figure {
  const sorted = [...values].sort((a, b) => a - b);
  const least = sorted[0] ?? 0;
  const greatest = sorted.at(-1) ?? 0;
  // A few that were interrupted would push all others into one bar: they have the last one together.
  const usual = sorted[Math.floor(USUAL * (sorted.length - 1))] ?? greatest;
  const step = Math.max((usual - least) / (TIME_BINS - 1), 0.01);
  const bins = Array.from({ length: TIME_BINS }, (_none, at) => {
    const from = (least + at * step).toFixed(step < 1 ? 2 : 0);
    return { name: at === TIME_BINS - 1 ? `${from}…` : from, count: 0 };
  });
  for (const value of values) {
    const bin = bins[Math.min(TIME_BINS - 1, Math.floor((value - least) / step))];
    if (bin) bin.count += 1;
  }
  const spread = `${duration(least)} to ${duration(greatest)}`;
  const labels = { caption: `${caption}: ${whole(values.length)}, ${spread}`, x: "ms", y };
  return histogram(labels, bins, width);
}

/** Intervals that have a left end, without those at either end where nothing lies. */
function bins({ edges, counts }: Figures["e"]): { from: number; count: number }[] {
  const all = counts.map((count, at) => ({
    from: at === 0 ? -Infinity : (edges[at - 1] ?? 0),
    count,
  }));
  const first = all.findIndex(({ count }) => count > 0);
  const last = all.findLastIndex(({ count }) => count > 0);
  return all.slice(Math.max(0, first), last + 1);
}

function signedBins(f: Figures["f"]): Bin[] {
  return bins(f).map(({ from, count }) => {
    // From -1 to 1 is one interval; below it an interval's other end is the nearer one.
    const name = from === -1 ? "0" : from < 0 ? power(from / 10) : power(from);
    return { name, count };
  });
}

function power(value: number): string {
  if (value === Infinity) return "∞";
  if (value === -Infinity) return "below";
  return value.toExponential(0).replace("e+", "e");
}
