/** The table with a row for each vector, written in slices so that the page stays responsive. */
import { make, nextFrame, rowName, tableHead } from "../../shell/page.js";
import type { Results } from "./table.js";
import { isHash } from "./vectors.js";

/** Rows in a slice. */
const SLICE = 8;

/** The shown digits of a key or an input; a tooltip has all. */
const SHOWN = 8;

/** The table's rows. */
export class Rows {
  readonly #results: Results;
  readonly #table: HTMLTableElement;
  readonly #onEdit: () => void;
  readonly #cells = new Map<string, HTMLTableCellElement[]>();
  readonly #changed = new Map<string, Set<number>>();
  #isPainting = false;

  /** Calls `onEdit` when the visitor edits an expected hash. */
  constructor(table: HTMLTableElement, results: Results, onEdit: () => void) {
    this.#results = results;
    this.#table = table;
    this.#onEdit = onEdit;
    for (const { name } of results.columns) this.#cells.set(name, []);
  }

  /** Writes all rows, unless `signal` aborts. */
  async write(signal: AbortSignal): Promise<void> {
    const { columns, vectors } = this.#results;
    const titles = ["Vector", "Key", "Input", "Expected", ...columns.map(({ label }) => label)];
    const body = make("tbody");
    this.#table.replaceChildren(tableHead(titles), body);
    for (let first = 0; first < vectors.length; first += SLICE) {
      if (signal.aborted) return;
      const slice = Array.from(vectors.slice(first, first + SLICE).keys());
      body.append(...slice.map((index) => this.#row(first + index)));
      await nextFrame();
    }
  }

  /** Updates cells of a column in the next frame. */
  changed(column: string, rows: readonly number[]): void {
    const changed = this.#changed.get(column) ?? new Set();
    for (const row of rows) changed.add(row);
    this.#changed.set(column, changed);
    if (this.#isPainting) return;
    this.#isPainting = true;
    void nextFrame().then(() => {
      this.#isPainting = false;
      for (const [name, numbers] of this.#changed) {
        for (const row of numbers) this.#paint(name, row);
      }
      this.#changed.clear();
    });
  }

  #row(index: number): HTMLTableRowElement {
    const vector = this.#results.vectors[index];
    if (!vector)
      throw new Error(`row: expected 0 to ${this.#results.vectors.length - 1}, got ${index}`);
    const { set, number, version, key, input } = vector;
    const name = `${set} ${number}`;
    const title = rowName(`${name} `, make("small", `v${version}`));
    const row = make("tr", title, digits(key), digits(input), this.#expected(index, name));
    for (const { name } of this.#results.columns) {
      const cell = make("td");
      this.#cells.get(name)?.push(cell);
      row.append(cell);
      this.#paint(name, index);
    }
    return row;
  }

  #expected(row: number, name: string): HTMLTableCellElement {
    const input = make("input");
    input.className = "hex";
    input.value = this.#results.expected(row);
    input.ariaLabel = `Expected hash of ${name}`;
    input.spellcheck = false;
    input.autocomplete = "off";
    input.maxLength = 80;
    input.addEventListener("input", () => {
      this.#results.expect(row, input.value);
      input.ariaInvalid = String(!isHash(this.#results.expected(row)));
      for (const column of this.#results.columns) this.#paint(column.name, row);
      this.#onEdit();
    });
    return make("td", input);
  }

  #paint(column: string, row: number): void {
    const element = this.#cells.get(column)?.[row];
    if (!element) return;
    const verdict = this.#results.verdict(column, row);
    const cell = this.#results.cell(column, row);
    const badge = make("span", verdict);
    badge.className = "badge";
    badge.dataset.state = verdict === "failed" ? "missing" : verdict;
    element.dataset.verdict = verdict;
    element.replaceChildren(badge);
    if (cell.state === "hashed" && verdict === "wrong") {
      const expected = this.#results.expected(row);
      element.append(
        line("got", cell.hash),
        line("expected", isHash(expected) ? expected : `${expected} (not 64 hex digits)`),
      );
    }
    if (cell.state === "failed") element.append(" ", make("small", cell.why));
  }
}

function line(label: string, hash: string): HTMLElement {
  const code = make("code", hash);
  const element = make("p", make("small", `${label} `), code);
  element.className = "hash";
  return element;
}

function digits(hex: string): HTMLTableCellElement {
  const isLong = hex.length > SHOWN;
  const code = make("code", hex === "" ? "empty" : isLong ? `${hex.slice(0, SHOWN)}…` : hex);
  const cell = make("td", code);
  if (isLong) cell.title = hex;
  return cell;
}
