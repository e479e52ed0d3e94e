/** The summary: a row for each build, with the times of its hashes. */
import { place } from "../../plot/figure.js";
import { bars } from "../../plot/plots.js";
import { find, make, nextFrame, numberCell, rowName, tableHead } from "../../shell/page.js";
import { duration } from "../../shell/words.js";
import type { Results, Total } from "./table.js";

const TITLES = [
  "Build",
  "Right",
  "Wrong",
  "Failed",
  "Lanes",
  "Caches",
  "ms per hash",
  "least to greatest",
];

/** Writes the totals, and draws the plot if there are times. Returns a function that stops drawing. */
export function summarise(root: HTMLElement, results: Results): () => void {
  const totals = results.columns.map((column) => ({ column, total: results.total(column) }));
  const lines = totals.map(({ column, total }) => {
    const row = make("tr", rowName(column.label), ...cells(total));
    row.dataset.column = column.name;
    return row;
  });
  find(root, '[data-part="totals"]', HTMLTableElement).replaceChildren(
    tableHead(TITLES, 1),
    make("tbody", ...lines),
  );
  const drawn = totals.flatMap(({ column, total: { ms } }) =>
    ms ? [{ name: column.label, ms }] : [],
  );
  const plot = find(root, '[data-part="plot"]', HTMLElement);
  plot.replaceChildren();
  if (drawn.length === 0) return () => undefined;
  const labels = {
    caption: "Milliseconds of a hash on one thread: the median of the rounds, and their range",
    x: "milliseconds per hash",
    y: "build",
  };
  const rows = drawn.map(({ name, ms }): Parameters<typeof bars>[1][number] => ({
    name,
    value: ms.median,
    spread: [ms.least, ms.greatest],
  }));
  let stop: (() => void) | undefined;
  let isStopped = false;
  // Handles input first, since drawing takes a while.
  void nextFrame().then(() => {
    if (!isStopped) stop = place(plot, (width) => bars(labels, rows, width));
  });
  return () => {
    isStopped = true;
    stop?.();
  };
}

function cells({ right, wrong, failed, lanes, prepare, ms }: Total): HTMLElement[] {
  const texts = [
    String(right),
    String(wrong),
    String(failed),
    lanes.join(", ") || "–",
    duration(prepare),
    ms ? ms.median.toFixed(1) : "–",
    ms ? `${ms.least.toFixed(1)} to ${ms.greatest.toFixed(1)}` : "–",
  ];
  return texts.map(numberCell);
}
