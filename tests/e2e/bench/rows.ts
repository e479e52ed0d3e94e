/** Measurements, in the form in which they are written. */

/** A measurement; `--json` writes a list of them. */
export interface Row {
  /** Name and version, or `none` for native builds. */
  browser: string;
  /** The package's engine, or the name of another implementation. */
  engine: string;
  /** The features that generated code uses. */
  tier: string;
  threads: number;
  /** Hashes that a thread computes together. */
  lanes: number;
  what: string;
  /** The median of the rounds. */
  ms: number;
}

/** A row without its time; every round adds a value to it. */
export type Place = Omit<Row, "ms">;

/** Values by place, in the order of the first value. */
export class Measurements {
  readonly #values = new Map<string, number[]>();

  add(place: Place, ms: number): void {
    const name = JSON.stringify(place);
    this.#values.set(name, [...(this.#values.get(name) ?? []), ms]);
  }

  /** Returns the medians. */
  rows(): Row[] {
    return [...this.#values].map(([name, values]) => ({
      ...(JSON.parse(name) as Place),
      ms: Number(median(values).toFixed(2)),
    }));
  }
}

/** Returns the median. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (index: number): number => sorted[Math.floor(index)] ?? Number.NaN;
  return (at((sorted.length - 1) / 2) + at(sorted.length / 2)) / 2;
}
