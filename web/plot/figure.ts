/** Pictures, each with its numbers in a table for readers who cannot see it. */
import { make } from "../shell/page.js";
import { Tooltip } from "./tooltip.js";

/** A drawn plot. */
export interface Figure {
  svg: SVGSVGElement;
  /** Descriptions of its marks. */
  tips: ReadonlyMap<Element, string>;
  /** Makes the table, which takes longer than the picture, on demand. */
  table: () => HTMLTableElement;
}

/** The least width of a picture, in pixels: a phone's. */
const LEAST_WIDTH = 260;

/** The most rows of a table. It leaves out further rows evenly, and its caption says so. */
const MOST_ROWS = 600;

/**
 * Draws a figure into an element, with its name above and its table below in a fold. Draws again when
 * the element's width changes, until the returned function is called.
 */
export function place(root: HTMLElement, draw: (width: number) => Figure): () => void {
  let drawn = widthOf(root);
  let figure = draw(drawn);
  const fold = make("details", make("summary", "As a table"));
  fold.addEventListener("toggle", () => {
    if (fold.open && fold.childElementCount === 1) fold.append(scroll(figure.table()));
  });
  const name = make("figcaption", figure.svg.ariaLabel ?? "");
  const tooltip = new Tooltip();
  tooltip.watch(figure);
  const box = make("figure", name, figure.svg, tooltip.element, fold);
  box.className = "plot";
  root.replaceChildren(box);

  // The observer's first report comes at once, with the same width.
  const observer = new ResizeObserver(() => {
    const width = widthOf(root);
    if (width === drawn) return;
    drawn = width;
    const before = figure.svg;
    figure = draw(width);
    tooltip.watch(figure);
    before.replaceWith(figure.svg);
  });
  observer.observe(root);
  return () => {
    observer.disconnect();
  };
}

/** Puts a table into a box that the keyboard can scroll. */
export function scroll(table: HTMLTableElement): HTMLElement {
  const box = make("div", table);
  box.className = "scroll";
  box.tabIndex = 0;
  box.role = "region";
  box.ariaLabel = table.caption?.textContent ?? "";
  return box;
}

function widthOf(root: HTMLElement): number {
  return Math.max(LEAST_WIDTH, Math.floor(root.clientWidth));
}

/** Makes a table of numbers and words, whose first column names the rows. */
export function table(
  caption: string,
  head: string[],
  rows: (string | number)[][],
): HTMLTableElement {
  const step = Math.ceil(rows.length / MOST_ROWS);
  const kept = rows.filter((_row, index) => index % step === 0);
  const note = step > 1 ? ` (one in ${step} of ${rows.length} rows)` : "";
  const element = make("table", make("caption", caption + note));
  const titles = head.map((name) => cell("th", name, "col"));
  const body = kept.map((row) =>
    make("tr", ...row.map((value, at) => cell(at === 0 ? "th" : "td", value, "row"))),
  );
  element.append(make("thead", make("tr", ...titles)), make("tbody", ...body));
  return element;
}

function cell(tag: "th" | "td", value: string | number, scope: "row" | "col"): HTMLElement {
  const element = make(tag, typeof value === "number" ? formatNumber(value) : value);
  if (element instanceof HTMLTableCellElement && tag === "th") element.scope = scope;
  if (typeof value === "number") element.className = "number";
  return element;
}

const plain = new Intl.NumberFormat("en", { maximumSignificantDigits: 5 });

/** Formats a number, with powers of ten if it is very small or large. */
export function formatNumber(value: number): string {
  if (value === Infinity) return "∞";
  const size = Math.abs(value);
  return size !== 0 && (size < 1e-4 || size >= 1e9) ? value.toExponential(2) : plain.format(value);
}
