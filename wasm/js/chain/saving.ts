/** The states on their way to the store. */
import { asRandomXError, type RandomXError } from "../errors.js";
import type { Store } from "./store.js";

/** Saves states one after another. If the store is slow, only the newest waits. */
export class Saving {
  readonly #store: Store;
  readonly #failed: (error: RandomXError) => void;
  #next: Uint8Array | undefined;
  #running: Promise<RandomXError | undefined> | undefined;

  constructor(store: Store, failed: (error: RandomXError) => void) {
    this.#store = store;
    this.#failed = failed;
  }

  /** Saves a state. */
  save(state: Uint8Array): void {
    this.#next = state;
    this.#running ??= this.#run();
  }

  /** Resolves when nothing is left to save. Rejects if the last of these saves fails. */
  async idle(): Promise<void> {
    const failure = await this.#running;
    if (failure) throw failure;
  }

  /** Saves what waits. Returns the failure of the last save. */
  async #run(): Promise<RandomXError | undefined> {
    let failure: RandomXError | undefined;
    // A store may throw at once, which must not end the loop before `#running` is set.
    await Promise.resolve();
    for (let state = this.#next; state; state = this.#next) {
      this.#next = undefined;
      try {
        await this.#store.save(state);
        failure = undefined;
      } catch (thrown) {
        failure = asRandomXError(thrown);
        this.#failed(failure);
      }
    }
    this.#running = undefined;
    return failure;
  }
}
