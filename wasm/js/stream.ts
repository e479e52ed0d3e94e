/** Results in order for inputs that arrive one by one, with a bounded number of them in progress. */
import { aborted } from "./errors.js";
import type { Source } from "./types.js";

/** Starts the work for an input. The signal ends it. */
export type Begin<T, R> = (input: T, index: number, signal: AbortSignal) => Promise<R>;

/**
 * Yields the results for a source's inputs, in order. It reads an input while fewer than `room`
 * results are in progress or not yet taken, so the caller sets the pace. Leaving the loop, an error
 * and the signal all end the work. An error of the source arrives in its place, unchanged.
 */
export async function* stream<T, R>(
  source: Source<T>,
  room: number,
  begin: Begin<T, R>,
  signal: AbortSignal | undefined,
): AsyncGenerator<R, void, undefined> {
  const stop = new AbortController();
  const end = (): void => {
    stop.abort(signal?.reason);
  };
  if (signal?.aborted) throw aborted(signal);
  signal?.addEventListener("abort", end);
  const stopped = new Promise<never>((_, reject) => {
    stop.signal.addEventListener("abort", () => {
      reject(aborted(stop.signal));
    });
  });
  stopped.catch(() => undefined);
  const work = new Work(source, room, (input, index) => begin(input, index, stop.signal));
  try {
    for (;;) {
      const reading = work.read();
      const { first } = work;
      if (first && (first.isSettled || !reading)) {
        yield await Promise.race([first.result, stopped]);
        work.taken();
      } else if (reading) {
        await Promise.race([reading, stopped, ...(first ? [first.result] : [])]);
      } else {
        return;
      }
    }
  } finally {
    signal?.removeEventListener("abort", end);
    end();
    work.close();
  }
}

/** The work for an input. */
interface Begun<R> {
  result: Promise<R>;
  isSettled: boolean;
}

/** The inputs whose results are in progress or not yet taken. */
class Work<T, R> {
  readonly #next: () => IteratorResult<T> | Promise<IteratorResult<T>>;
  readonly #return: () => unknown;
  readonly #room: number;
  readonly #begin: (input: T, index: number) => Promise<R>;
  readonly #begun: Begun<R>[] = [];
  #reading: Promise<void> | undefined;
  #count = 0;
  #hasEnded = false;

  constructor(source: Source<T>, room: number, begin: (input: T, index: number) => Promise<R>) {
    if (Symbol.asyncIterator in source) {
      const inputs = source[Symbol.asyncIterator]();
      // It may return any thenable, such as a promise of another frame.
      this.#next = () => Promise.resolve(inputs.next());
      this.#return = () => inputs.return?.();
    } else {
      const inputs = source[Symbol.iterator]();
      this.#next = () => inputs.next();
      this.#return = () => inputs.return?.();
    }
    this.#room = room;
    this.#begin = begin;
  }

  /** The input whose result is next. */
  get first(): Begun<R> | undefined {
    return this.#begun[0];
  }

  /** Reads inputs while there is room. Returns the pending read, if there is one. */
  read(): Promise<void> | undefined {
    while (!this.#reading && !this.#hasEnded && this.#begun.length < this.#room) {
      const next = this.#next();
      if (!(next instanceof Promise)) {
        this.#take(next);
        continue;
      }
      this.#reading = next
        .then(
          (next) => {
            this.#take(next);
          },
          (error: unknown) => {
            this.#hasEnded = true;
            this.#add(
              new Promise(() => {
                throw error;
              }),
            );
          },
        )
        .finally(() => {
          this.#reading = undefined;
        });
    }
    return this.#reading;
  }

  /** Counts the first result as taken. */
  taken(): void {
    this.#begun.shift();
  }

  /** Closes the source without waiting for it. */
  close(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    void Promise.resolve(this.#return()).catch(() => undefined);
  }

  #take(next: IteratorResult<T, unknown>): void {
    // The input may arrive after the end.
    if (this.#hasEnded) return;
    if (next.done) this.#hasEnded = true;
    else this.#add(this.#begin(next.value, this.#count++));
  }

  #add(result: Promise<R>): void {
    const begun = { result, isSettled: false };
    const settle = (): void => {
      begun.isSettled = true;
    };
    result.then(settle, settle);
    this.#begun.push(begun);
  }
}
