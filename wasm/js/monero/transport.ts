/** Requests over HTTP to servers that may be hostile: bounded in time, in size and in number. */
import { unlessAborted } from "../abort.js";
import { Lease } from "../budget.js";
import { RandomXError, aborted } from "../errors.js";
import { isOver, rest } from "../turns.js";
import { NotJson } from "./json.js";

/** How requests are sent. */
export interface Transport {
  /** Milliseconds that an answer may take, from the request to the last byte. */
  timeout: number;
  fetch: typeof globalThis.fetch;
}

/** A request. */
export interface Question {
  /** Its name in messages. */
  label: string;
  url: URL;
  /** What to post. Without it the request is a GET. */
  body?: string;
  /** The most bytes of the answer. */
  limit: number;
}

/** The reason why there is no usable answer, and whether another attempt may succeed. */
export interface Failure {
  error: RandomXError;
  again: boolean;
}

/** The codes of failures. */
type Code = "unreachable" | "timeout" | "refused" | "too-large" | "invalid";

/** The bytes that are taken in one step: at most a millisecond or two of work. */
const PIECE = 8 << 10;

/** The reason to abort a request that takes too long. */
const LATE = Symbol("late");

class TooLarge extends Error {}

/** Sends a request, and passes the answer's bytes to `take` in pieces. */
export async function send(
  { timeout, fetch }: Transport,
  { label, url, body, limit }: Question,
  take: (piece: Uint8Array) => void,
  signal: AbortSignal | undefined,
): Promise<Failure | undefined> {
  const lease = await Lease.begin(signal);
  const watch = new Watch(timeout, signal);
  try {
    const response = await unlessAborted(
      fetch(url, {
        // Browsers send text without a content type without a preflight request.
        ...(body === undefined ? {} : { method: "POST", body }),
        // The caller named this server, and no other.
        redirect: "error",
        credentials: "omit",
        referrerPolicy: "no-referrer",
        signal: watch.signal,
      }),
      watch.signal,
    );
    if (!response.ok) {
      void response.body?.cancel().catch(() => undefined);
      const busy = response.status === 429 || response.status >= 500;
      return failure("unreachable", `${label}: HTTP status ${response.status}`, busy);
    }
    await read(response, limit, lease, watch, take);
    return undefined;
  } catch (error) {
    if (signal?.aborted) throw aborted(signal);
    if (watch.isLate) return failure("timeout", `${label}: no answer within ${timeout} ms`, true);
    if (error instanceof TooLarge) {
      return failure("too-large", `${label}: an answer of more than ${limit} bytes`, false);
    }
    if (error instanceof NotJson)
      return failure("invalid", `${label}: the answer is not JSON`, false);
    return failure("unreachable", `${label}: ${reason(error)}`, true, error);
  } finally {
    // Cancels the rest of an answer that was not read to its end.
    watch.end();
    lease.end();
  }
}

/** Returns a failure. */
export function failure(code: Code, message: string, again: boolean, cause?: unknown): Failure {
  return { error: new RandomXError(`node-${code}`, message, { cause }), again };
}

async function read(
  response: Response,
  limit: number,
  lease: Lease,
  watch: Watch,
  take: (piece: Uint8Array) => void,
): Promise<void> {
  if (Number(response.headers.get("Content-Length") ?? 0) > limit) throw new TooLarge();
  const reader = response.body?.getReader();
  if (!reader) return;
  let length = 0;
  for (;;) {
    const { done, value } = await unlessAborted(reader.read(), watch.signal);
    if (done) return;
    length += value.length;
    if (length > limit) throw new TooLarge();
    // Other answers' slowness is not this server's.
    if (!lease.covers(length)) await watch.without(lease.enlarge(watch.signal));
    for (let at = 0; at < value.length; at += PIECE) {
      take(value.subarray(at, at + PIECE));
      if (isOver()) await rest();
    }
  }
}

/** The time of a request, and the caller's signal. */
class Watch {
  readonly #controller = new AbortController();
  readonly #timeout: number;
  readonly #given: AbortSignal | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(timeout: number, given: AbortSignal | undefined) {
    this.#timeout = timeout;
    this.#given = given;
    given?.addEventListener("abort", this.#stop);
    if (given?.aborted) this.#stop();
    this.#start();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get isLate(): boolean {
    return this.signal.reason === LATE;
  }

  /** Awaits a promise while no time passes. */
  async without(promise: Promise<void>): Promise<void> {
    clearTimeout(this.#timer);
    await promise;
    this.#start();
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#given?.removeEventListener("abort", this.#stop);
    this.#stop();
  }

  readonly #stop = (): void => {
    this.#controller.abort();
  };

  #start(): void {
    this.#timer = setTimeout(() => {
      this.#controller.abort(LATE);
    }, this.#timeout);
  }
}

/** Returns fetch's reason for a failure. Node puts it into the cause. */
function reason(error: unknown): string {
  if (!(error instanceof Error)) return "the request failed";
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}
