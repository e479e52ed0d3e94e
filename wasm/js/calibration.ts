/** Which machine runs programs fastest: what may be measured, and what was. */
import type { Choices, Features } from "./options.js";
import type { Machine } from "./protocol.js";

/** What a page has measured, for all its instances. */
const measured = new Map<string, Machine>();

/** Often enough for a worker that died while it measured. */
const ATTEMPTS = 3;

const INTERPRETER: Machine = { engine: "interpreter", copies: 1 };

/**
 * Enough that V8 does not optimise code that is used up by then. Firefox gains a twentieth with
 * one; WebKit loses with any number, and interprets.
 */
const COPIES = 4;

/** The machine of one instance, which is a guess until it is measured. */
export class Calibration {
  /** The first is the guess. */
  readonly machines: readonly Machine[];
  readonly #id: string;
  #attempts = 0;
  #inProgress = false;

  constructor({ engine, copies }: Choices, features: Features) {
    const compiled: Machine = { engine: "jit", copies: copies ?? COPIES };
    this.machines = [
      ...(engine === "interpreter" ? [] : [compiled]),
      ...(engine === "jit" ? [] : [INTERPRETER]),
    ];
    this.#id = JSON.stringify([this.machines, features]);
  }

  /** The machine to hash with now. */
  get machine(): Machine {
    return measured.get(this.#id) ?? this.machines[0] ?? INTERPRETER;
  }

  /** Whether there is something to measure. */
  get isWanted(): boolean {
    return (
      this.machines.length > 1 &&
      !measured.has(this.#id) &&
      !this.#inProgress &&
      this.#attempts < ATTEMPTS
    );
  }

  /** Measures, and remembers what came of it. A measurement that fails leaves the guess. */
  async measure(ask: (machines: readonly Machine[]) => Promise<Machine>): Promise<void> {
    this.#inProgress = true;
    this.#attempts += 1;
    try {
      measured.set(this.#id, await ask(this.machines));
    } catch {
      // The guess is right too, and only slower; a worker that died is noticed as such.
    } finally {
      this.#inProgress = false;
    }
  }
}
