/** Results for inputs that come one by one, in order, with no more of them at work than is useful. */
import { aborted } from "./errors.js";

/** Inputs, all at once or one after another. */
export type Source<T> = Iterable<T> | AsyncIterable<T>;

/** Begins the work for an input, and ends it when the signal is aborted. */
export type Begin<T, R> = (input: T, index: number, signal: AbortSignal) => Promise<R>;

/**
 * The results of a source's inputs, in order. An input is read while fewer than `room` are begun
 * and not yet taken by the caller, who so sets the pace. Leaving the loop, an error and the signal
 * all end what was begun. What the source throws comes in its place, as it is.
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

/** What becomes of an input. */
interface Begun<R> {
  result: Promise<R>;
  isSettled: boolean;
}

/** The inputs that are begun and not yet taken. */
class Work<T, R> {
  readonly #inputs: Iterator<T> | AsyncIterator<T>;
  readonly #room: number;
  readonly #begin: (input: T, index: number) => Promise<R>;
  readonly #begun: Begun<R>[] = [];
  #reading: Promise<void> | undefined;
  #count = 0;
  #hasEnded = false;

  constructor(source: Source<T>, room: number, begin: (input: T, index: number) => Promise<R>) {
    this.#inputs =
      Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]();
    this.#room = room;
    this.#begin = begin;
  }

  /** The one whose result is next. */
  get first(): Begun<R> | undefined {
    return this.#begun[0];
  }

  /** Reads as much as there is room for; returned is what must be waited for. */
  read(): Promise<void> | undefined {
    while (!this.#reading && !this.#hasEnded && this.#begun.length < this.#room) {
      const next = this.#inputs.next();
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

  /** The caller has the first result. */
  taken(): void {
    this.#begun.shift();
  }

  /** Tells the source that no more is wanted; it may be at work and is not waited for. */
  close(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    void Promise.resolve(this.#inputs.return?.()).catch(() => undefined);
  }

  #take(next: IteratorResult<T, unknown>): void {
    // An input may come when nobody wants it any more.
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
