/** Candidates that take turns with real batches, until the fastest is known. */

/** The batches that a candidate has hashed. */
interface Trials {
  begun: number;
  /** Those that each thread has begun. */
  begunBy: WeakMap<object, number>;
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

/**
 * A candidate has few trials if it has at most this many more than the one with the fewest. With 0, a thread would often
 * have no choice.
 */
const AHEAD = 1;

/** In every batch of this number, a candidate with few trials is tried again, even if there is a winner. */
const RETRY = 64;

/** A contest of candidates in batches of one kind. */
export class Contest<T> {
  readonly #trials: Map<T, Trials>;
  #begun = 0;

  constructor(candidates: readonly T[]) {
    this.#trials = new Map(
      candidates.map((each) => [
        each,
        { begun: 0, begunBy: new WeakMap(), ended: 0, least: Infinity },
      ]),
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
   * Returns the candidate for a thread's next batch. This is `winner`, except in every 64th batch or if there is none.
   * Then it is the candidate that the thread has tried least, among those with few trials. Ties go to fewer trials,
   * then to `guess`. If batches alternated between two engines, each of two threads could always get the same engine,
   * and the faster processor would decide.
   */
  next(winner: T | undefined, guess: T, thread: object): T {
    this.#begun += 1;
    const chosen = this.#begun % RETRY === 0 ? undefined : winner;
    return this.#begin(chosen ?? this.#leastTried(guess, thread), thread);
  }

  #leastTried(guess: T, thread: object): T {
    const all = [...this.#trials];
    const least = Math.min(...all.map(([, { begun }]) => begun));
    const few = all.filter(([, { begun }]) => begun <= least + AHEAD);
    const by = ({ begunBy }: Trials): number => begunBy.get(thread) ?? 0;
    few.sort(
      ([one, a], [other, b]) =>
        by(a) - by(b) || a.begun - b.begun || Number(other === guess) - Number(one === guess),
    );
    return few[0]?.[0] ?? guess;
  }

  #begin(candidate: T, thread: object): T {
    const trials = this.#trials.get(candidate);
    if (trials) {
      trials.begun += 1;
      trials.begunBy.set(thread, (trials.begunBy.get(thread) ?? 0) + 1);
    }
    return candidate;
  }

  /** Adds the milliseconds that each hash of a batch took. */
  add(candidate: T, milliseconds: number): void {
    const trials = this.#trials.get(candidate);
    if (!trials) return;
    trials.ended += 1;
    trials.least = Math.min(trials.least, milliseconds);
  }
}
