/** Requests over HTTP to servers that may be hostile: bounded in time, in size and in number. */
import { unlessAborted } from "../abort.js";
import { Blocks, bodyReader } from "../body.js";
import { Lease } from "../budget.js";
import { RandomXError, aborted } from "../errors.js";
import { collect } from "../garbage.js";
import { isOver, pause, rest } from "../turns.js";
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

/** The bytes that are parsed in one step: at most a millisecond or two of work. */
const STEP = 8 << 10;

/** The bytes that are read without a pause: some milliseconds of work. */
const TURN = 1 << 20;

/** The reason to abort a request that takes too long. */
const LATE = Symbol("late");

class TooLarge extends Error {}

/** An answer is longer than its share of the budget, and another one has the rest. */
class NoRoom extends Error {}

/** Sends a request, and passes the answer's bytes to `take` in pieces. */
export async function send(
  transport: Transport,
  question: Question,
  take: (piece: Uint8Array) => void,
  signal: AbortSignal | undefined,
): Promise<Failure | undefined> {
  const lease = await Lease.begin(signal);
  try {
    let answer = await ask(transport, question, lease, signal);
    if (!answer) {
      await lease.enlarge(signal);
      answer = await ask(transport, question, lease, signal);
    }
    if (!Array.isArray(answer)) return answer;
    for (const block of answer) {
      for (let at = 0; at < block.length; at += STEP) {
        take(block.subarray(at, at + STEP));
        if (isOver()) await rest();
        if (signal?.aborted) throw aborted(signal);
      }
    }
    return undefined;
  } catch (error) {
    if (!(error instanceof NotJson)) throw error;
    return failure("invalid", `${question.label}: the answer is not JSON`, false);
  } finally {
    lease.end();
  }
}

/**
 * Returns the bytes of an answer, or `undefined` if the lease does not cover them. They are read as fast
 * as they arrive, and a longer answer is given up at once: Chromium reads on while nobody takes the
 * bytes, up to 100 MB.
 */
async function ask(
  { timeout, fetch }: Transport,
  { label, url, body, limit }: Question,
  lease: Lease,
  signal: AbortSignal | undefined,
): Promise<Uint8Array[] | Failure | undefined> {
  const watch = new Watch(timeout, signal);
  let isLong = false;
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
    return await read(response, limit, lease, watch.signal);
  } catch (error) {
    if (signal?.aborted) throw aborted(signal);
    if (watch.isLate) return failure("timeout", `${label}: no answer within ${timeout} ms`, true);
    isLong = error instanceof NoRoom || error instanceof TooLarge;
    if (error instanceof NoRoom) return undefined;
    if (error instanceof TooLarge) {
      return failure("too-large", `${label}: an answer of more than ${limit} bytes`, false);
    }
    return failure("unreachable", `${label}: ${reason(error)}`, true, error);
  } finally {
    // Cancels the rest of an answer that was not read to its end.
    watch.end();
    // Chromium has read megabytes of it.
    if (isLong) collect();
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
  signal: AbortSignal,
): Promise<Uint8Array[]> {
  if (Number(response.headers.get("Content-Length") ?? 0) > limit) throw new TooLarge();
  const blocks = new Blocks();
  if (!response.body) return blocks.all;
  const reader = bodyReader(response.body);
  for (;;) {
    const piece = await unlessAborted(reader.read(), signal);
    if (!piece) return blocks.all;
    const length = blocks.length + piece.length;
    if (length > limit) throw new TooLarge();
    if (!lease.covers(length)) throw new NoRoom();
    // Not a turn of its own, for which it would wait while more arrives.
    if (Math.floor(length / TURN) > Math.floor(blocks.length / TURN)) await pause();
    blocks.add(piece);
  }
}

/** The time of a request, and the caller's signal. */
class Watch {
  readonly #controller = new AbortController();
  readonly #given: AbortSignal | undefined;
  readonly #timer: ReturnType<typeof setTimeout>;

  constructor(timeout: number, given: AbortSignal | undefined) {
    this.#given = given;
    given?.addEventListener("abort", this.#stop);
    if (given?.aborted) this.#stop();
    this.#timer = setTimeout(() => {
      this.#controller.abort(LATE);
    }, timeout);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get isLate(): boolean {
    return this.signal.reason === LATE;
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#given?.removeEventListener("abort", this.#stop);
    this.#stop();
  }

  readonly #stop = (): void => {
    this.#controller.abort();
  };
}

/** Returns fetch's reason for a failure. Node puts it into the cause. */
function reason(error: unknown): string {
  if (!(error instanceof Error)) return "the request failed";
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}
