/** The choice of the engine that runs programs, by measurement. */
import type { Engine, Features } from "./types.js";

/** The page's measurements, for all its instances. */
const measured = new Map<string, Engine>();

/** A worker may die while it measures. */
const ATTEMPTS = 3;

/** The engine of one instance: a guess until the measurement. */
export class Calibration {
  /** The guess, and the engines that may be faster. */
  readonly engines: readonly [Engine, ...Engine[]];
  readonly #id: string;
  #attempts = 0;
  #inProgress = false;

  constructor(engines: readonly [Engine, ...Engine[]], features: Features) {
    this.engines = engines;
    this.#id = JSON.stringify([this.engines, features]);
  }

  /** The engine to use now. */
  get engine(): Engine {
    return measured.get(this.#id) ?? this.engines[0];
  }

  /** Whether a measurement is due. */
  get isWanted(): boolean {
    return (
      this.engines.length > 1 &&
      !measured.has(this.#id) &&
      !this.#inProgress &&
      this.#attempts < ATTEMPTS
    );
  }

  /** Measures and stores the result. If the measurement fails, the guess stays. */
  async measure(ask: (engines: readonly Engine[]) => Promise<Engine>): Promise<void> {
    this.#inProgress = true;
    this.#attempts += 1;
    try {
      measured.set(this.#id, await ask(this.engines));
    } catch {
      // The guess may be slower, but its hashes are right. The pool notices a dead worker.
    } finally {
      this.#inProgress = false;
    }
  }
}
