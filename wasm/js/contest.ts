/** Candidates that take turns with real batches, until the fastest is known. */

/** The batches that a candidate has hashed. */
interface Trials {
  begun: number;
  ended: number;
  /** The least milliseconds of a hash. Other work only adds to a time. */
  least: number;
}

/**
 * A candidate is ruled out if its least time is at least this many times that of the fastest. The first number
 * applies when each candidate has 2 trials, the next one when each has 3. One trial proves nothing: code runs
 * slowly at first.
 */
const RULED_OUT = [1.3, 1.2, 1.15, 1.1, 1.1, 1.1, 1.05, 1];

/** In every batch of this number, the candidate with the fewest trials is tried again. */
const RETRY = 64;

/** A contest of candidates in batches of one kind. */
export class Contest<T> {
  readonly #trials: Map<T, Trials>;
  #begun = 0;

  constructor(candidates: readonly T[]) {
    this.#trials = new Map(
      candidates.map((each) => [each, { begun: 0, ended: 0, least: Infinity }]),
    );
  }

  /** The candidate that has ruled out all others, if there is one. */
  get winner(): T | undefined {
    const ended = Math.min(...Array.from(this.#trials.values(), (trials) => trials.ended));
    const [fastest, ...others] = [...this.#trials].sort(([, a], [, b]) => a.least - b.least);
    // No time is at least as long as NaN.
    const factor = RULED_OUT[Math.min(ended - 2, RULED_OUT.length - 1)] ?? Number.NaN;
    const isRuledOut = ([, { least }]: [T, Trials]): boolean =>
      !!fastest && least >= factor * fastest[1].least;
    return others.every(isRuledOut) ? fastest?.[0] : undefined;
  }

  /**
   * Returns the candidate for the next batch: `winner`. Without one, and in every 64th batch, it is the candidate
   * with the fewest trials. `guess` comes first among equals.
   */
  next(winner: T | undefined, guess: T): T {
    this.#begun += 1;
    const begun = (candidate: T): number => this.#trials.get(candidate)?.begun ?? 0;
    const [least = guess] = [guess, ...this.#trials.keys()].sort((a, b) => begun(a) - begun(b));
    const chosen = this.#begun % RETRY === 0 ? least : (winner ?? least);
    const trials = this.#trials.get(chosen);
    if (trials) trials.begun += 1;
    return chosen;
  }

  /** Adds the milliseconds that each hash of a batch took. */
  add(candidate: T, milliseconds: number): void {
    const trials = this.#trials.get(candidate);
    if (!trials) return;
    trials.ended += 1;
    trials.least = Math.min(trials.least, milliseconds);
  }
}
