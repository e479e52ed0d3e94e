/**
 * One budget for the answers of all requests in flight in this thread. It bounds their bytes by
 * `MAX_REQUESTS * FREE_BYTES` and the longest single answer. In WebKit a follower's request takes a lease in the
 * worker and one in the follower's thread.
 */
import { unlessAborted } from "./abort.js";
import { ABORT_DELAY, BUFFERS_WITHOUT_LIMIT, FLOOD_WINDOW } from "./flood.js";
import { collect } from "./garbage.js";

/** The most requests in flight, except in WebKit. */
export const REQUESTS = 32;

/** The most requests in flight. In WebKit, those older than {@link FLOOD_WINDOW} do not count. */
const MAX_REQUESTS = BUFFERS_WITHOUT_LIMIT ? 4 : REQUESTS;

/**
 * The most searches for transactions at once, each with one request at a time. In WebKit a second one would wait for
 * the permit of large answers.
 */
export const SEARCHES = BUFFERS_WITHOUT_LIMIT ? 1 : 4;

/** The bytes that any answer may have: room for 1,000 headers. Only one at a time may have more. */
export const FREE_BYTES = 128 << 10;

/** A number of permits, which callers wait for in order. */
export class Semaphore {
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
  /** Whether an answer was aborted before its end. */
  isCut = false;
  #isLarge = false;
  #holdsRequest = true;
  #timer: ReturnType<typeof setTimeout> | undefined;

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

  /** Notes that a request is sent now. */
  sent(): void {
    clearTimeout(this.#timer);
    if (!BUFFERS_WITHOUT_LIMIT) return;
    this.#timer = setTimeout(() => {
      this.#releaseRequest();
    }, FLOOD_WINDOW);
  }

  /**
   * Returns the permits. In WebKit, a request that was cut or large returns them after {@link ABORT_DELAY}, when
   * its memory has been collected.
   */
  end(): void {
    clearTimeout(this.#timer);
    if (BUFFERS_WITHOUT_LIMIT && (this.isCut || this.#isLarge)) {
      collect();
      setTimeout(() => {
        // The first collection may have begun before all of the answer was garbage.
        collect();
        this.#release();
      }, ABORT_DELAY);
    } else {
      this.#release();
    }
  }

  #release(): void {
    this.#releaseRequest();
    if (this.#isLarge) large.release();
  }

  /** Returns the permit of a request, once. */
  #releaseRequest(): void {
    if (this.#holdsRequest) requests.release();
    this.#holdsRequest = false;
  }
}
