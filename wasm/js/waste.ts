/**
 * Code that is used up, and memories of caches. V8 counts what JavaScript holds, and neither of these:
 * a worker that has dropped a thousand programs, or 256 MiB, looks idle to it, while hundreds of MiB
 * wait to be collected. Something large that is dropped at once makes it look.
 */

/** Hashes after which it is time: their eight modules each are several MiB. */
const HASHES = 8;

/** How much V8 lets outside memory grow before it collects. Nothing writes to it, so it costs none. */
const MARK = 64 << 20;

/** What one worker has not given back yet. */
export class Waste {
  #hashes = 0;

  /** Adds the modules of so many hashes, whose code nobody calls any more. */
  add(hashes: number): void {
    this.#hashes += hashes;
    if (this.#hashes < HASHES) return;
    this.#hashes = 0;
    collect();
  }
}

/** Has the engine look at what is no longer used. */
export function collect(): void {
  try {
    // In this form, because tools that shorten code take a constructor's unused result away.
    Reflect.construct(ArrayBuffer, [MARK]);
  } catch {
    // There is not that much left: then an engine collects by itself.
  }
}
