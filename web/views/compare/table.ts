/** The results of each build for each vector. */
import type { Column, Outcome, Setup } from "./columns.js";
import { isHash, type Vector } from "./vectors.js";

/** The result of a build for a vector. */
export type Cell =
  | { state: "waiting" }
  | { state: "running" }
  | { state: "hashed"; hash: string }
  | { state: "failed"; why: string };

/** A cell's state, compared with the expected hash. */
export type Verdict = "waiting" | "running" | "right" | "wrong" | "failed";

/** The totals of a column. */
export interface Total {
  column: string;
  right: number;
  wrong: number;
  failed: number;
  /** The lanes that ran, in ascending order; they can depend on the version and the batch. */
  lanes: number[];
  /** Milliseconds for caches and datasets. */
  prepare: number;
  /**
   * Milliseconds of a hash on one thread, from rounds of many hashes: the least, the median and the
   * greatest.
   */
  ms: { least: number; median: number; greatest: number } | undefined;
}

/** All results of the chosen columns. */
export class Results {
  readonly vectors: readonly Vector[];
  readonly columns: readonly Column[];
  readonly setup: Setup;
  /** The file that has the vectors, if no set has them. */
  readonly file: string | undefined;
  readonly #expected: string[];
  readonly #cells: Map<string, Cell[]>;
  readonly #lanes: Map<string, Set<number>>;
  readonly #prepare: Map<string, number>;
  readonly #times: Map<string, number[]>;

  constructor(vectors: readonly Vector[], columns: readonly Column[], setup: Setup, file?: string) {
    this.vectors = vectors;
    this.columns = columns;
    this.setup = setup;
    this.file = file;
    this.#expected = vectors.map(({ expected }) => expected);
    const waiting = (): Cell[] => vectors.map(() => ({ state: "waiting" }));
    this.#cells = new Map(columns.map(({ name }) => [name, waiting()]));
    this.#lanes = new Map(columns.map(({ name }) => [name, new Set()]));
    this.#prepare = new Map(columns.map(({ name }) => [name, 0]));
    this.#times = new Map(columns.map(({ name }) => [name, []]));
  }

  /** Returns a row's expected hash, which may be invalid while the visitor edits it. */
  expected(row: number): string {
    return this.#expected[row] ?? "";
  }

  /** Changes a row's expected hash. */
  expect(row: number, text: string): void {
    this.#expected[row] = text.trim().toLowerCase();
  }

  cell(column: string, row: number): Cell {
    return this.#cells.get(column)?.[row] ?? { state: "waiting" };
  }

  set(column: string, row: number, cell: Cell): void {
    const cells = this.#cells.get(column);
    if (cells) cells[row] = cell;
  }

  /** Adds what a column's build did for a group. */
  add(column: string, outcome: Outcome): void {
    this.#lanes.get(column)?.add(outcome.lanes);
    this.#prepare.set(column, (this.#prepare.get(column) ?? 0) + outcome.prepare);
  }

  /** Adds the milliseconds of a hash in one round of a column's build. */
  addTime(column: string, ms: number): void {
    this.#times.get(column)?.push(ms);
  }

  verdict(column: string, row: number): Verdict {
    const cell = this.cell(column, row);
    if (cell.state !== "hashed") return cell.state;
    const expected = this.expected(row);
    return isHash(expected) && cell.hash === expected ? "right" : "wrong";
  }

  total({ name }: Column): Total {
    const count = { waiting: 0, running: 0, right: 0, wrong: 0, failed: 0 };
    for (let row = 0; row < this.vectors.length; row += 1) count[this.verdict(name, row)] += 1;
    const { right, wrong, failed } = count;
    const prepare = this.#prepare.get(name) ?? 0;
    const lanes = [...(this.#lanes.get(name) ?? [])].sort((a, b) => a - b);
    const ms = spread(this.#times.get(name) ?? []);
    return { column: name, right, wrong, failed, lanes, prepare, ms };
  }
}

function spread(times: readonly number[]): Total["ms"] {
  const sorted = [...times].sort((a, b) => a - b);
  const [least] = sorted;
  const greatest = sorted.at(-1);
  const half = sorted.length >> 1;
  const [lower, upper] = [sorted[sorted.length - 1 - half], sorted[half]];
  if (least === undefined || greatest === undefined) return undefined;
  if (lower === undefined || upper === undefined) return undefined;
  return { least, median: (lower + upper) / 2, greatest };
}
