/** The choice of the engine that runs programs, by the times of real batches. */
import type { Engine, Features, Version } from "./types.js";

/** The batches of one kind that an engine has hashed. */
interface Trials {
  begun: number;
  ended: number;
  /** The least milliseconds of a hash. Other work only adds to a time. */
  least: number;
}

/** The trials of each engine with batches of one version and size. */
type Contest = Map<Engine, Trials>;

/** The contests of one version, by the size of batches. */
type Contests = (Contest | undefined)[];

/**
 * By the number of trials of each engine, from the second on: how many times as long as the fastest another
 * one must take to be ruled out. One trial proves nothing: code runs slowly at first.
 */
const RULED_OUT = [1.3, 1.2, 1.15, 1.1, 1.1, 1.1, 1.05, 1];

/** Batches of a kind after which an engine that was ruled out is tried again. */
const RETRY = 64;

/** What the page knows about one setting, for all instances with it. */
class Known {
  readonly contests: Record<Version, Contests> = { 1: [], 2: [] };
  /** The winner of the latest contest that is decided. */
  winner: Engine | undefined;
}

/** By engines, features and lanes. */
const known = new Map<string, Known>();

/**
 * The engine of one instance. Which one is faster depends on the browser, the processor, the version and the
 * number of hashes that are computed together. So engines take turns with the first batches of each
 * kind, and the fastest continues.
 */
export class Calibration {
  readonly #engines: readonly [Engine, ...Engine[]];
  readonly #known: Known;

  constructor(engines: readonly [Engine, ...Engine[]], features: Features, lanes: number) {
    // The guess is the first. Without fused products, compiled programs take many more operations for rounding.
    const [first, second] = engines;
    this.#engines = !features.fusedMultiplyAdd && second ? [second, first] : engines;
    const setting = JSON.stringify([engines, features, lanes]);
    this.#known = known.get(setting) ?? new Known();
    known.set(setting, this.#known);
  }

  /** The latest winner, or the guess. */
  get engine(): Engine {
    return this.#known.winner ?? this.#engines[0];
  }

  /** Returns the engine for the next batch of a kind. */
  next(version: Version, inputs: number): Engine {
    if (this.#engines.length === 1) return this.#engines[0];
    const contest = this.#contest(version, inputs);
    const begun = [...contest.values()].reduce((sum, trials) => sum + trials.begun, 0);
    const isRetry = begun % RETRY === RETRY - 1;
    const winner = isRetry ? undefined : winnerAt(this.#known.contests[version], inputs);
    const engine = winner ?? this.#leastTried(contest);
    (contest.get(engine) ?? newTrials()).begun += 1;
    return engine;
  }

  /** Adds the milliseconds that each hash of a batch took. NaN if there was none. */
  add(engine: Engine, version: Version, inputs: number, milliseconds: number): void {
    if (this.#engines.length === 1 || Number.isNaN(milliseconds)) return;
    const contest = this.#contest(version, inputs);
    const trials = contest.get(engine);
    if (!trials) return;
    trials.ended += 1;
    trials.least = Math.min(trials.least, milliseconds);
    this.#known.winner = winnerOf(contest) ?? this.#known.winner;
  }

  #contest(version: Version, inputs: number): Contest {
    const contests = this.#known.contests[version];
    return (contests[inputs] ??= new Map(this.#engines.map((each) => [each, newTrials()])));
  }

  /** Returns the engine with the fewest trials, first of all the winner of other contests. */
  #leastTried(contest: Contest): Engine {
    const begun = (engine: Engine): number => contest.get(engine)?.begun ?? 0;
    return this.#engines.reduce(
      (least, engine) => (begun(engine) < begun(least) ? engine : least),
      this.engine,
    );
  }
}

function newTrials(): Trials {
  return { begun: 0, ended: 0, least: Infinity };
}

/**
 * Returns the winner with batches of a size. Where it is not decided, a smaller and a larger size with the same
 * winner decide.
 */
function winnerAt(contests: Contests, inputs: number): Engine | undefined {
  const winners = Array.from(contests, (contest) => contest && winnerOf(contest));
  const below = winners.slice(0, inputs).findLast((winner) => winner !== undefined);
  const above = winners.slice(inputs).find((winner) => winner !== undefined);
  return winners[inputs] ?? (below === above ? below : undefined);
}

/** Returns the engine that has ruled out all others, if there is one. */
function winnerOf(contest: Contest): Engine | undefined {
  const ended = Math.min(...Array.from(contest.values(), (trials) => trials.ended));
  const factor = RULED_OUT[Math.min(ended - 2, RULED_OUT.length - 1)];
  const [fastest, ...others] = [...contest].sort(([, a], [, b]) => a.least - b.least);
  if (!fastest || factor === undefined) return undefined;
  const limit = factor * fastest[1].least;
  return others.every(([, { least }]) => least >= limit) ? fastest[0] : undefined;
}
