/** The choice of the engine that runs programs, and of the lanes, by the times of real batches. */
import { Contest } from "./contest.js";
import type { Engine, Features, Version } from "./types.js";

/** The contests in batches of one version and size. */
interface Contests {
  engines: Contest<Engine>;
  /** By the engine that has won. */
  lanes: Partial<Record<Engine, Contest<number>>>;
}

/** How a batch is hashed. */
export interface BatchPlan {
  engine: Engine;
  /** Hashes that are computed together. By default the whole batch. */
  lanes?: number | undefined;
}

/** The smallest batches whose lanes are measured. */
const SMALLEST = 4;

/** The measurements of one setting. All instances with this setting share them. */
class Known {
  /** By the size of batches. */
  readonly contests: Record<Version, (Contests | undefined)[]> = { 1: [], 2: [] };
  /** The winner of the latest contest that is decided. */
  winner: Engine | undefined;
  /** The fastest number of lanes, by the size of batches. */
  readonly lanes: number[] = [];
}

/** By engines, features and lanes. */
const known = new Map<string, Known>();

/**
 * The engine and the lanes of one instance. Which ones are fastest depends on the browser, the processor, the
 * version and the number of hashes in a batch. So engines take turns with the first batches of each kind. When
 * one has won, it hashes batches as a whole, in halves and in quarters. Smaller parts use fewer scratchpads, which
 * fit the processor's caches better. They also compute fewer items at once.
 */
export class Calibration {
  readonly #engines: readonly [Engine, ...Engine[]];
  readonly #measuresLanes: boolean;
  readonly #known: Known;

  /** `lanes` is the number that the caller of the package has given. Without one, the fastest is measured. */
  constructor(
    engines: readonly [Engine, ...Engine[]],
    features: Features,
    lanes: number | undefined,
  ) {
    // The guess is the first. Without fused products, compiled programs take many more operations for rounding.
    const [first, second] = engines;
    this.#engines = !features.fusedMultiplyAdd && second ? [second, first] : engines;
    this.#measuresLanes = lanes === undefined;
    const setting = JSON.stringify([engines, features, lanes]);
    this.#known = known.get(setting) ?? new Known();
    known.set(setting, this.#known);
  }

  /** The latest winner, or the guess. */
  get engine(): Engine {
    return this.#known.winner ?? this.#engines[0];
  }

  /** The fastest number of lanes for the largest batches that were measured. */
  get lanes(): number | undefined {
    return this.#known.lanes.at(-1);
  }

  /** Returns how a thread hashes its next batch of a kind. */
  next(version: Version, inputs: number, thread: object): BatchPlan {
    const { engines, lanes } = this.#contests(version, inputs);
    const winner = this.#winnerAt(version, inputs);
    const engine = engines.next(winner, this.engine, thread);
    const isMeasured = this.#measuresLanes && engine !== "native" && engine === winner;
    if (!isMeasured || inputs < SMALLEST) return { engine };
    const parts = [1, 2, 4].map((count) => Math.ceil(inputs / count));
    const contest = (lanes[engine] ??= new Contest(parts));
    return { engine, lanes: contest.next(contest.winner, inputs, thread) };
  }

  /** Adds the milliseconds that each hash of a batch took. Not finite if there was no hash. */
  add({ engine, lanes }: BatchPlan, version: Version, inputs: number, milliseconds: number): void {
    if (!Number.isFinite(milliseconds)) return;
    const contests = this.#contests(version, inputs);
    contests.engines.add(engine, milliseconds);
    this.#known.winner = contests.engines.winner ?? this.#known.winner;
    const contest = contests.lanes[engine];
    if (lanes) contest?.add(lanes, milliseconds);
    const fastest = contest?.winner;
    if (fastest) this.#known.lanes[inputs] = fastest;
  }

  #contests(version: Version, inputs: number): Contests {
    const contests = this.#known.contests[version];
    return (contests[inputs] ??= { engines: new Contest(this.#engines), lanes: {} });
  }

  /**
   * Returns the engine that has won with batches of a size. Where it is not decided, a smaller and a larger size
   * with the same winner decide.
   */
  #winnerAt(version: Version, inputs: number): Engine | undefined {
    const contests = this.#known.contests[version];
    const winners = contests.map((each) => each?.engines.winner);
    const below = winners.slice(0, inputs).findLast(Boolean);
    const above = winners.slice(inputs).find(Boolean);
    return winners[inputs] ?? (below === above ? below : undefined);
  }
}
