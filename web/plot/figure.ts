/** Pictures, each with its numbers in a table for readers who cannot see it. */
import { make, rowName, tableHead } from "../shell/page.js";
import { formatNumber } from "../shell/words.js";
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

type Draw = (width: number) => Figure;

/** The figures in the page, by their places. */
const figures = new WeakMap<HTMLElement, PlacedFigure>();

/**
 * Draws a figure into an element, with its name above and its table below in a fold. Draws again when
 * the element's width changes, until the returned function is called. If the element already shows a
 * figure, the new one takes over its fold, which stays open and keeps the focus.
 */
export function place(root: HTMLElement, draw: Draw): () => void {
  const earlier = figures.get(root);
  const figure = earlier?.isShown ? earlier : new PlacedFigure(root);
  figures.set(root, figure);
  figure.show(draw);
  return () => {
    figure.stop();
  };
}

/** A figure in its place. */
class PlacedFigure {
  readonly #root: HTMLElement;
  readonly #name = make("figcaption");
  readonly #tooltip = new Tooltip();
  readonly #fold = make("details", make("summary", "As a table"));
  readonly #box = make("figure", this.#name, this.#tooltip.element, this.#fold);
  #observer: ResizeObserver | undefined;
  #svg: SVGSVGElement | undefined;
  #makeTable: Figure["table"] | undefined;
  /** The table's box, once the fold has been opened. */
  #scroll: HTMLElement | undefined;

  constructor(root: HTMLElement) {
    this.#root = root;
    this.#box.className = "plot";
    this.#fold.addEventListener("toggle", () => {
      if (!this.#scroll) this.#writeTable();
    });
    root.replaceChildren(this.#box);
  }

  /** Whether nothing else has taken its place. */
  get isShown(): boolean {
    return this.#box.parentElement === this.#root;
  }

  /** Shows a drawing instead of the one before. */
  show(draw: Draw): void {
    this.stop();
    let drawn = widthOf(this.#root);
    const { svg, table } = this.#draw(draw, drawn);
    this.#name.textContent = svg.ariaLabel;
    this.#makeTable = table;
    this.#writeTable();
    // The observer's first report comes at once, with the same width.
    this.#observer = new ResizeObserver(() => {
      const width = widthOf(this.#root);
      if (width === drawn) return;
      drawn = width;
      this.#draw(draw, width);
    });
    this.#observer.observe(this.#root);
  }

  /** Stops redrawing when the width changes. */
  stop(): void {
    this.#observer?.disconnect();
  }

  #draw(draw: Draw, width: number): Figure {
    const figure = draw(width);
    this.#svg?.remove();
    this.#svg = figure.svg;
    this.#name.after(figure.svg);
    this.#tooltip.watch(figure);
    return figure;
  }

  /** Writes the table if the fold is open, else removes it. The table's box stays, and so does the focus on it. */
  #writeTable(): void {
    if (!this.#fold.open) {
      this.#scroll?.remove();
      this.#scroll = undefined;
    } else if (this.#makeTable) {
      const table = this.#makeTable();
      if (!this.#scroll) this.#fold.append((this.#scroll = scroll(table)));
      else fill(this.#scroll, table);
    }
  }
}

/** Puts a table into a box that the keyboard can scroll. */
export function scroll(table: HTMLTableElement): HTMLElement {
  const box = make("div");
  box.className = "scroll";
  box.tabIndex = 0;
  box.role = "region";
  fill(box, table);
  return box;
}

function fill(box: HTMLElement, table: HTMLTableElement): void {
  box.replaceChildren(table);
  box.ariaLabel = table.caption?.textContent ?? "";
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
  const body = kept.map((row) => make("tr", ...row.map(cell)));
  element.append(tableHead(head), make("tbody", ...body));
  return element;
}

function cell(value: string | number, at: number): HTMLElement {
  const isNumber = typeof value === "number";
  const text = isNumber ? formatNumber(value) : value;
  const element = at === 0 ? rowName(text) : make("td", text);
  if (isNumber) element.className = "number";
  return element;
}
