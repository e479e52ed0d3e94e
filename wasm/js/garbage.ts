/**
 * Garbage collection of used code, of cache memories and of answers that were too long. V8 ignores these
 * when it schedules collections: hundreds of MiB can wait while a worker looks idle. A large throwaway
 * buffer forces a collection.
 */

/** Hashes between two collections. The eight modules of each hash take several MiB in all. */
const HASHES = 8;

/** Bytes of outside memory after which V8 collects. They are never written, so they cost nothing. */
const BUFFER = 64 << 20;

/** Counts the hashes whose generated code is garbage. */
export class CodeGarbage {
  #hashes = 0;

  /** Adds the code of some hashes, and collects if it is time. */
  add(hashes: number): void {
    this.#hashes += hashes;
    if (this.#hashes < HASHES) return;
    this.#hashes = 0;
    collect();
  }
}

/** Makes the engine collect its garbage. */
export function collect(): void {
  try {
    // `Reflect`, because minifiers remove a `new` whose result is unused.
    Reflect.construct(ArrayBuffer, [BUFFER]);
  } catch {
    // So little memory is left that the engine collects without help.
  }
}
