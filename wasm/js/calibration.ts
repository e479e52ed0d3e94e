/** Which engine runs programs fastest: what may be measured, and what was. */
import type { Choices, Engine, Features } from "./options.js";

/** What a page has measured, for all its instances. */
const measured = new Map<string, Engine>();

/** Often enough for a worker that died while it measured. */
const ATTEMPTS = 3;

/** The engine of one instance, which is a guess until it is measured. */
export class Calibration {
  /** The guess, and what may turn out to be faster. */
  readonly engines: readonly [Engine, ...Engine[]];
  readonly #id: string;
  #attempts = 0;
  #inProgress = false;

  constructor({ engine }: Choices, features: Features) {
    this.engines = engine === "auto" ? ["jit", "interpreter"] : [engine];
    this.#id = JSON.stringify([this.engines, features]);
  }

  /** What to hash with now. */
  get engine(): Engine {
    return measured.get(this.#id) ?? this.engines[0];
  }

  /** Whether there is something to measure. */
  get isWanted(): boolean {
    return (
      this.engines.length > 1 &&
      !measured.has(this.#id) &&
      !this.#inProgress &&
      this.#attempts < ATTEMPTS
    );
  }

  /** Measures, and remembers what came of it. A measurement that fails leaves the guess. */
  async measure(ask: (engines: readonly Engine[]) => Promise<Engine>): Promise<void> {
    this.#inProgress = true;
    this.#attempts += 1;
    try {
      measured.set(this.#id, await ask(this.engines));
    } catch {
      // The guess is right too, and only slower; a worker that died is noticed as such.
    } finally {
      this.#inProgress = false;
    }
  }
}
