/** Steps that undo what tests have set up. */

export class Cleanup {
  readonly #steps: (() => unknown)[] = [];

  /** Adds a step, which may return a promise. Call it as soon as there is something to undo. */
  add(step: () => unknown): void {
    this.#steps.push(step);
  }

  /** Runs every step once, the latest first, even if another step fails. */
  async run(): Promise<void> {
    const errors: unknown[] = [];
    for (const step of this.#steps.splice(0).reverse()) {
      try {
        await step();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0)
      throw new AggregateError(errors, `cleanup: ${errors.map(String).join("; ")}`);
  }
}
