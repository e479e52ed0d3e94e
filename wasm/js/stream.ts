/** Results in order for inputs that arrive one by one, with a bounded number of them in progress. */
import { Signals, endSource, unlessEnded } from "./abort.js";
import { aborted } from "./errors.js";
import type { Scheduler } from "./scheduler.js";
import type { Source } from "./types.js";

/** Starts the work for an input. The signal ends it. */
export type Begin<T, R> = (input: T, index: number, signal: AbortSignal) => Promise<R>;

/**
 * Yields the results for a source's inputs, in order. It reads an input while fewer than `room`
 * results are in progress or not yet taken, so the caller sets the pace. Leaving the loop, an error,
 * the signal and the end of the instance all end the work. An error of the source arrives in its
 * place, unchanged.
 */
export async function* stream<T, R>(
  source: Source<T>,
  room: number,
  begin: Begin<T, R>,
  signal: AbortSignal | undefined,
  instance: Pick<Scheduler, "attach">,
): AsyncGenerator<R, void, undefined> {
  if (signal?.aborted) throw aborted(signal);
  const stop = new AbortController();
  const signals = new Signals();
  const work = new Work(source, room, (input, index) =>
    signals.run((signal) => begin(input, index, signal)),
  );
  const end = (): void => {
    stop.abort(signal?.reason);
    signals.abort(signal?.reason);
  };
  signal?.addEventListener("abort", end);
  try {
    for (;;) {
      const reading = work.read();
      const { first } = work;
      if (first && (first.isSettled || !reading)) {
        yield await unlessEnded(first.result, stop.signal, instance);
        work.taken();
      } else if (reading) {
        const change = first ? Promise.race([reading, first.result]) : reading;
        await unlessEnded<unknown>(change, stop.signal, instance);
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
      try {
        const next = this.#next();
        if (next instanceof Promise) this.#reading = this.#wait(next);
        else this.#take(next);
      } catch (error) {
        this.#fail(error);
      }
    }
    return this.#reading;
  }

  /** Counts the first result as taken. */
  taken(): void {
    this.#begun.shift();
  }

  /** Closes the source. */
  close(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    endSource(this.#return);
  }

  async #wait(next: Promise<IteratorResult<T>>): Promise<void> {
    try {
      this.#take(await next);
    } catch (error) {
      this.#fail(error);
    }
    this.#reading = undefined;
  }

  #take(next: IteratorResult<T, unknown>): void {
    // The input may arrive after the end.
    if (this.#hasEnded) return;
    if (next.done) this.#hasEnded = true;
    else this.#add(this.#begin(next.value, this.#count++));
  }

  /** Ends the source with an error, which arrives after the results. */
  #fail(error: unknown): void {
    this.#hasEnded = true;
    this.#add(
      new Promise(() => {
        throw error;
      }),
    );
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
