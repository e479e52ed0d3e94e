/** The pictures of the page. No other file knows the library that draws them. */
import * as Plot from "@observablehq/plot";
import { table, written, type Figure } from "./figure.js";
import "./style.css";

/** What every plot is called, and its axes. */
export interface Labels {
  /** What is to be seen, in one sentence: the picture's name for who cannot see it. */
  caption: string;
  x: string;
  y: string;
}

/** How many colours there are for series. */
const COLOURS = 6;

/** A bar with its name, and perhaps a mark where it is expected to end. */
export interface Bar {
  name: string;
  value: number;
  expected?: number;
  /** From its least to its greatest value. */
  spread?: [number, number];
}

/** Bars beside their names, one below another. */
export function bars(labels: Labels, rows: Bar[], width: number): Figure {
  const marks: Plot.Markish[] = [
    Plot.ruleX([0]),
    Plot.barX(rows, { x: "value", y: "name", fill: colour(0) }),
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
  const svg = draw(labels, marks, {
    width,
    height: 50 + 19 * rows.length,
    marginLeft: Math.min(0.45 * width, 14 + 7 * longest),
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
  return { svg, table: () => table(labels.caption, [labels.y, labels.x, ...columns], cells) };
}

/** An interval and how many values lie in it. */
export interface Bin {
  /** What the interval is called, below its bar. */
  name: string;
  count: number;
}

/** Bars side by side, for values by interval. */
export function histogram(labels: Labels, bins: Bin[], width: number): Figure {
  // So many names fit below the bars without touching each other.
  const longest = Math.max(1, ...bins.map(({ name }) => name.length));
  const step = Math.max(1, Math.ceil((bins.length * 6.5 * longest) / (width - 60)));
  const named = bins.map(({ name }) => name).filter((_name, index) => index % step === 0);
  const svg = draw(
    labels,
    [Plot.barY(bins, { x: "name", y: "count", fill: colour(0) }), Plot.ruleY([0])],
    {
      width,
      height: 250,
      marginLeft: 56,
      marginBottom: 44,
      x: {
        label: labels.x,
        labelOffset: 40,
        domain: bins.map(({ name }) => name),
        ticks: named,
        tickSize: 0,
      },
      y: { label: labels.y, grid: true, nice: true },
    },
  );
  const cells = bins.map(({ name, count }) => [name, count]);
  return { svg, table: () => table(labels.caption, [labels.x, labels.y], cells) };
}

/** Points with a name. */
export interface Series {
  name: string;
  points: (readonly [x: number, y: number])[];
}

/** What a plot of points may say besides. */
export interface PointOptions {
  width: number;
  /** How values are spread on the upright axis: by powers of ten, or so with either sign. */
  scale?: "linear" | "log" | "symlog";
  /** What the upright axis begins and ends with. */
  range?: [number, number];
}

/** Lines through points. */
export function line(labels: Labels, series: Series[], options: PointOptions): Figure {
  const marks = series.flatMap(({ points }, at) => [
    Plot.lineY(points, { x: "0", y: "1", stroke: colour(at), strokeWidth: 1.75 }),
    Plot.dot(points.length > 60 ? [] : points, { x: "0", y: "1", fill: colour(at), r: 2.5 }),
  ]);
  return points(labels, series, marks, options);
}

/** Points by themselves. */
export function dots(labels: Labels, series: Series[], options: PointOptions): Figure {
  const marks = series.map(({ points }, at) =>
    Plot.dot(points, { x: "0", y: "1", fill: colour(at), r: points.length > 200 ? 1.2 : 2.5 }),
  );
  return points(labels, series, marks, options);
}

/** A place in a grid. */
export interface Cell {
  x: number;
  y: string;
  /** What is there, in the table and in the colours. */
  kind: string;
}

/** A grid: rows have names, columns numbers, and colours tell what is there. */
export function cells(
  labels: Labels,
  { rows, columns, kinds }: { rows: string[]; columns: [number, number]; kinds: string[] },
  places: Cell[],
  width: number,
): Figure {
  const [first, last] = columns;
  const svg = draw(
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
      }),
    ],
    {
      width,
      height: 62 + 26 * rows.length,
      marginLeft: 44,
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
  const lines = places.map(({ x, y, kind }) => [written(x), y, kind]);
  return { svg, table: () => table(labels.caption, [labels.x, labels.y, "what"], lines) };
}

/** The names of series beside their colours, for above a plot that has several. */
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

function points(
  labels: Labels,
  series: Series[],
  marks: Plot.Markish[],
  { width, scale = "linear", range }: PointOptions,
): Figure {
  const svg = draw(labels, marks, {
    width,
    height: 260,
    marginLeft: 56,
    x: { label: labels.x, nice: true },
    y: {
      label: labels.y,
      grid: true,
      nice: !range,
      ...(range ? { domain: range } : {}),
      type: scale,
    },
  });
  const rows = series.flatMap(({ name, points }) => points.map(([x, y]) => [written(x), y, name]));
  return { svg, table: () => table(labels.caption, [labels.x, labels.y, "series"], rows) };
}

function draw(labels: Labels, marks: Plot.Markish[], options: Plot.PlotOptions): SVGSVGElement {
  const svg = Plot.plot({ ...options, marks, className: "plot-picture" });
  if (!(svg instanceof SVGSVGElement)) throw new Error("a plot without a legend is one picture");
  // The policy of the page allows no style but that of its own files: the rules are in `style.css`.
  svg.querySelector("style")?.remove();
  // A picture has one name; its parts can have none.
  for (const part of svg.querySelectorAll("[aria-label]")) part.removeAttribute("aria-label");
  svg.role = "img";
  svg.ariaLabel = labels.caption;
  return svg;
}

function colour(series: number): string {
  return `var(--series-${(series % COLOURS) + 1})`;
}
