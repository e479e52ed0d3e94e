/**
 * One budget for the answers of all requests in flight in this thread. It bounds their bytes by
 * `MAX_REQUESTS * FREE_BYTES` and the longest single answer.
 */
import { unlessAborted } from "./abort.js";
import { EBB, READS_WITHOUT_END, SLOW } from "./flood.js";
import { collect } from "./garbage.js";

/** The most requests in flight: where answers cannot be held back, those that can still be floods. */
const MAX_REQUESTS = READS_WITHOUT_END ? 4 : 32;

/** The bytes that any answer may have: room for 1,000 headers. Only one at a time may have more. */
export const FREE_BYTES = 128 << 10;

/** A number of permits, which callers wait for in order. */
class Semaphore {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(free: number) {
    this.#free = free;
  }

  /** Takes a permit if one is free. */
  tryAcquire(): boolean {
    if (this.#free === 0) return false;
    this.#free -= 1;
    return true;
  }

  async acquire(signal: AbortSignal | undefined): Promise<void> {
    if (this.tryAcquire()) return;
    let given = (): void => undefined;
    const turn = new Promise<void>((resolve) => {
      given = resolve;
    });
    this.#waiting.push(given);
    try {
      await unlessAborted(turn, signal);
    } catch (error) {
      const index = this.#waiting.indexOf(given);
      // Otherwise the permit has arrived already.
      if (index < 0) this.release();
      else this.#waiting.splice(index, 1);
      throw error;
    }
  }

  release(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#free += 1;
  }
}

const requests = new Semaphore(MAX_REQUESTS);
const large = new Semaphore(1);

/** A request's share of the budget. */
export class Lease {
  #isLarge = false;
  #isOne = true;
  readonly #timer: ReturnType<typeof setTimeout> | undefined;

  private constructor() {
    if (!READS_WITHOUT_END) return;
    this.#timer = setTimeout(() => {
      this.#leave();
    }, SLOW);
  }

  /** Waits until another request may begin. */
  static async begin(signal: AbortSignal | undefined): Promise<Lease> {
    await requests.acquire(signal);
    return new Lease();
  }

  /** Whether the answer may have so many bytes now. */
  covers(bytes: number): boolean {
    this.#isLarge ||= bytes > FREE_BYTES && large.tryAcquire();
    return this.#isLarge || bytes <= FREE_BYTES;
  }

  /** Waits until the answer may have more bytes than {@link FREE_BYTES}. */
  async enlarge(signal: AbortSignal | undefined): Promise<void> {
    await large.acquire(signal);
    this.#isLarge = true;
  }

  /**
   * Returns the share. Where answers cannot be held back, one that was long or cut off first has time to end
   * and to be collected.
   */
  end(isCut: boolean): void {
    if (READS_WITHOUT_END && (isCut || this.#isLarge)) {
      collect();
      setTimeout(() => {
        this.#release();
      }, EBB);
    } else {
      this.#release();
    }
  }

  #release(): void {
    clearTimeout(this.#timer);
    this.#leave();
    if (this.#isLarge) large.release();
  }

  /** Ends to count as a request in flight. */
  #leave(): void {
    if (this.#isOne) requests.release();
    this.#isOne = false;
  }
}
