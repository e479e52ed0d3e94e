/** What the benchmarks measure, in the form in which it is written. */

/** A measurement: `JSON.stringify` of a list of them is what `--json` writes. */
export interface Row {
  /** Name and version, or that there is none. */
  browser: string;
  /** What runs programs: ours, or whose it is. */
  engine: string;
  /** What is made use of. */
  tier: string;
  threads: number;
  /** Hashes that are computed together by a thread. */
  lanes: number;
  what: string;
  /** The median of the rounds. */
  ms: number;
}

/** Where a measurement belongs; every round adds a value to it. */
export type Place = Omit<Row, "ms">;

/** Values by what they are of, in the order in which they came first. */
export class Measurements {
  readonly #values = new Map<string, number[]>();

  add(place: Place, ms: number): void {
    const name = JSON.stringify(place);
    this.#values.set(name, [...(this.#values.get(name) ?? []), ms]);
  }

  /** The medians. */
  rows(): Row[] {
    return [...this.#values].map(([name, values]) => ({
      ...(JSON.parse(name) as Place),
      ms: Number(median(values).toFixed(2)),
    }));
  }
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (index: number): number => sorted[Math.floor(index)] ?? Number.NaN;
  return (at((sorted.length - 1) / 2) + at(sorted.length / 2)) / 2;
}
