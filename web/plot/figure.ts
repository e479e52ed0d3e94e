/** A picture beside the same numbers in a table, for who cannot see it. */
import { make } from "../shell/page.js";

/** What a plot makes. */
export interface Figure {
  svg: SVGSVGElement;
  /** Made when it is asked for: hardly anybody looks at it, and it takes longer than the picture. */
  table: () => HTMLTableElement;
}

/** The least width that is drawn for, in pixels: a phone's. */
const LEAST_WIDTH = 260;

/** Rows of a table, at most: what a picture has more of is left out evenly, and that is said. */
const MOST_ROWS = 600;

/**
 * Puts a figure into an element, drawn for its width now and whenever that changes. Its name stands above,
 * and its table behind a fold. Returns how to stop.
 */
export function place(root: HTMLElement, draw: (width: number) => Figure): () => void {
  let drawn = widthOf(root);
  let figure = draw(drawn);
  const fold = make("details", make("summary", "As a table"));
  fold.addEventListener("toggle", () => {
    if (fold.open && fold.childElementCount === 1) fold.append(scroll(figure.table()));
  });
  const name = make("figcaption", figure.svg.ariaLabel ?? "");
  const box = make("figure", name, figure.svg, fold);
  box.className = "plot";
  root.replaceChildren(box);

  // Its first report comes by itself, and changes nothing.
  const observer = new ResizeObserver(() => {
    const width = widthOf(root);
    if (width === drawn) return;
    drawn = width;
    const before = figure.svg;
    figure = draw(width);
    before.replaceWith(figure.svg);
  });
  observer.observe(root);
  return () => {
    observer.disconnect();
  };
}

/** A table in a box of its own that the keyboard can scroll. */
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

/** A table of numbers and words; the first column names the rows. */
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
  const element = make(tag, typeof value === "number" ? written(value) : value);
  if (element instanceof HTMLTableCellElement && tag === "th") element.scope = scope;
  if (typeof value === "number") element.className = "number";
  return element;
}

const plain = new Intl.NumberFormat("en", { maximumSignificantDigits: 5 });

/** A number, with powers of ten where it is far from one. */
export function written(value: number): string {
  if (value === Infinity) return "∞";
  const size = Math.abs(value);
  return size !== 0 && (size < 1e-4 || size >= 1e9) ? value.toExponential(2) : plain.format(value);
}
