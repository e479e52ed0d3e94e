/** The page's plots. No other file uses the library that draws them. */
import * as Plot from "@observablehq/plot";
import { formatNumber } from "../shell/words.js";
import { table, type Figure } from "./figure.js";
import "./style.css";

/** The names of a plot and its axes. */
export interface Labels {
  /** Describes the plot in one sentence; also its name for screen readers. */
  caption: string;
  x: string;
  y: string;
}

/** The number of colours for series. */
const COLOURS = 6;

/** A named bar, with an optional mark of its expected end. */
export interface Bar {
  name: string;
  value: number;
  expected?: number;
  /** The least and the greatest value. */
  spread?: [number, number];
}

/** Draws horizontal bars beside their names. */
export function bars(labels: Labels, rows: Bar[], width: number): Figure {
  const marks: Plot.Markish[] = [
    Plot.ruleX([0]),
    Plot.barX(rows, { x: "value", y: "name", fill: colour(0), title: barInWords }),
  ];
  const expected = rows.filter((row) => row.expected !== undefined);
  if (expected.length > 0) {
    const ink = { stroke: "currentColor", strokeWidth: 2 };
    marks.push(Plot.tickX(expected, { x: "expected", y: "name", ...ink }));
  }
  const spread = rows.filter((row) => row.spread !== undefined);
  if (spread.length > 0) {
    const ends = {
      x1: (row: Bar) => row.spread?.[0],
      x2: (row: Bar) => row.spread?.[1],
    };
    marks.push(Plot.ruleY(spread, { ...ends, y: "name", stroke: "currentColor" }));
  }
  const longest = Math.max(0, ...rows.map(({ name }) => name.length));
  const picture = draw(labels, marks, {
    width,
    height: 54 + 21 * rows.length,
    marginBottom: 36,
    marginLeft: Math.min(0.5 * width, 14 + 7.2 * longest),
    x: { label: labels.x, grid: true, nice: true },
    y: { label: null, domain: rows.map(({ name }) => name) },
  });
  const columns = [
    ...(expected.length > 0 ? ["expected"] : []),
    ...(spread.length > 0 ? ["least", "greatest"] : []),
  ];
  const cells = rows.map((row) => [
    row.name,
    row.value,
    ...(expected.length > 0 ? [row.expected ?? ""] : []),
    ...(spread.length > 0 ? [row.spread?.[0] ?? "", row.spread?.[1] ?? ""] : []),
  ]);
  return {
    ...picture,
    table: () => table(labels.caption, [labels.y, labels.x, ...columns], cells),
  };
}

function barInWords({ name, value, expected, spread }: Bar): string {
  const more = [
    ...(expected === undefined ? [] : [`expected ${formatNumber(expected)}`]),
    ...(spread ? [`${formatNumber(spread[0])} to ${formatNumber(spread[1])}`] : []),
  ];
  return [`${name}: ${formatNumber(value)}`, ...more].join("; ");
}

/** An interval, and the number of values in it. */
export interface Bin {
  /** The label below the bar. */
  name: string;
  /** The interval in words. */
  range: string;
  count: number;
  /** The count that chance would give. */
  expected?: number;
  /** Whether it is open at one end. Its label is always shown. */
  isOverflow?: boolean;
}

/** Draws vertical bars for the intervals. */
export function histogram(labels: Labels, bins: Bin[], width: number): Figure {
  const expected = bins.filter((bin) => bin.expected !== undefined);
  const title = (bin: Bin): string => {
    const chance = bin.expected === undefined ? "" : `; by chance ${formatNumber(bin.expected)}`;
    return `${bin.range}: ${formatNumber(bin.count)} ${labels.y}${chance}`;
  };
  const ink = { stroke: "currentColor", strokeWidth: 1.5 };
  const picture = draw(
    labels,
    [
      Plot.barY(bins, { x: "name", y: "count", fill: colour(0), title }),
      Plot.tickY(expected, { x: "name", y: "expected", ...ink }),
      Plot.ruleY([0]),
    ],
    {
      width,
      height: 264,
      // The highest number can stand at the top, below the axis's name.
      marginTop: 28,
      marginLeft: 60,
      marginBottom: 48,
      x: {
        label: labels.x,
        labelOffset: 42,
        domain: bins.map(({ name }) => name),
        ticks: namedBins(bins, width - 80),
        tickSize: 0,
      },
      y: { label: labels.y, grid: true, nice: true },
    },
  );
  const chance = expected.length > 0 ? ["by chance"] : [];
  const cells = bins.map((bin) => {
    return [bin.range, bin.count, ...(expected.length > 0 ? [bin.expected ?? ""] : [])];
  });
  return { ...picture, table: () => table(labels.caption, [labels.x, labels.y, ...chance], cells) };
}

/** Chooses the labels that fit side by side with a gap, preferring those of intervals with an open end. */
function namedBins(bins: readonly Bin[], width: number): string[] {
  const longest = Math.max(1, ...bins.map(({ name }) => name.length));
  const step = Math.max(1, Math.ceil((bins.length * 8 * (longest + 1)) / width));
  const open = bins.flatMap(({ isOverflow }, index) => (isOverflow ? [index] : []));
  // Of two open ends beside each other, the outer one has a label.
  const named = open.filter((end) => !open.some((other) => other > end && other - end < step));
  const fits = (index: number): boolean => named.every((end) => Math.abs(index - end) >= step);
  return bins
    .filter((_, index) => named.includes(index) || (index % step === 0 && fits(index)))
    .map(({ name }) => name);
}

/** Named points. */
export interface Series {
  name: string;
  points: (readonly [x: number, y: number])[];
}

/** Draws lines through points. The vertical axis covers the range `y`. */
export function line(labels: Labels, series: Series[], y: [number, number], width: number): Figure {
  const marks = series.flatMap(({ points }, at) => [
    Plot.lineY(points, { x: "0", y: "1", stroke: colour(at), strokeWidth: 1.75 }),
    Plot.dot(points, {
      ...{ x: "0", y: "1", r: 2.5 },
      fill: points.length > 60 ? "none" : colour(at),
      title: pointInWords(labels),
    }),
  ]);
  const picture = draw(labels, marks, {
    width,
    height: 264,
    marginTop: 28,
    marginLeft: 60,
    marginBottom: 36,
    x: { label: labels.x, nice: true },
    y: { label: labels.y, grid: true, domain: y },
  });
  const rows = series.flatMap(({ name, points }) =>
    points.map(([x, y]) => [formatNumber(x), y, name]),
  );
  return { ...picture, table: () => table(labels.caption, [labels.x, labels.y, "series"], rows) };
}

function pointInWords({ x, y }: Labels): (point: readonly [number, number]) => string {
  return ([at, value]) => `${x} ${formatNumber(at)}: ${formatNumber(value)} ${y}`;
}

/** A cell of a grid. */
export interface Cell {
  x: number;
  y: string;
  /** The kind, which chooses the colour and stands in the table. */
  kind: string;
}

/** Draws a grid with named rows, numbered columns, and a colour for each kind. */
export function cells(
  labels: Labels,
  { rows, columns, kinds }: { rows: string[]; columns: [number, number]; kinds: string[] },
  places: Cell[],
  width: number,
): Figure {
  const [first, last] = columns;
  const picture = draw(
    labels,
    [
      Plot.rect(places, {
        x1: "x",
        x2: (place: Cell) => place.x + 1,
        y1: (place: Cell) => rows.indexOf(place.y) + 0.08,
        y2: (place: Cell) => rows.indexOf(place.y) + 0.92,
        fill: (place: Cell) => colour(Math.max(0, kinds.indexOf(place.kind))),
        insetLeft: 0.25,
        insetRight: 0.25,
        title: ({ x, y, kind }: Cell) => `${labels.x} ${formatNumber(x)}, ${y}: ${kind}`,
      }),
    ],
    {
      width,
      height: 62 + 26 * rows.length,
      marginLeft: 44,
      marginBottom: 36,
      x: { label: labels.x, domain: [first, last + 1] },
      y: {
        label: null,
        domain: [rows.length, 0],
        ticks: rows.map((_row, at) => at + 0.5),
        tickFormat: (value: number) => rows[Math.floor(value)] ?? "",
        tickSize: 0,
      },
    },
  );
  const lines = places.map(({ x, y, kind }) => [formatNumber(x), y, kind]);
  return { ...picture, table: () => table(labels.caption, [labels.x, labels.y, "kind"], lines) };
}

/** Makes a legend, with the colour and the name of each series. */
export function legend(names: string[]): HTMLElement {
  const list = document.createElement("ul");
  list.className = "legend";
  for (const [at, name] of names.entries()) {
    const entry = document.createElement("li");
    entry.dataset.series = String((at % COLOURS) + 1);
    entry.textContent = name;
    list.append(entry);
  }
  return list;
}

/** Draws a picture, and takes the descriptions out of its marks for the page's own tooltips. */
function draw(
  labels: Labels,
  marks: Plot.Markish[],
  options: Plot.PlotOptions,
): Pick<Figure, "svg" | "tips"> {
  const svg = Plot.plot({ ...options, marks, className: "plot-picture" });
  if (!(svg instanceof SVGSVGElement)) throw new Error("expected a plot to be one SVG element");
  // The page's policy forbids inline styles; `style.css` has the rules instead.
  svg.querySelector("style")?.remove();
  // Labels are not allowed on the parts of a picture, which has a name itself.
  for (const part of svg.querySelectorAll("[aria-label]")) part.removeAttribute("aria-label");
  svg.role = "img";
  svg.ariaLabel = labels.caption;
  const tips = new Map<Element, string>();
  for (const title of svg.querySelectorAll("title")) {
    if (title.parentElement) tips.set(title.parentElement, title.textContent);
    title.remove();
  }
  return { svg, tips };
}

function colour(series: number): string {
  return `var(--series-${(series % COLOURS) + 1})`;
}
