/** Requests over HTTP to servers that may be hostile: bounded in time, in size and in number. */
import { unlessAborted } from "../abort.js";
import { Blocks, READS_ON, type BodyReader } from "../body.js";
import { FREE_BYTES, Lease } from "../budget.js";
import { RandomXError, aborted } from "../errors.js";
import { BUFFERS_WITHOUT_LIMIT, TooLarge, readAll } from "../flood.js";
import { addReceived, collect } from "../garbage.js";
import { isOver, pause, rest } from "../turns.js";
import { Exchange } from "./exchange.js";
import { NotJson, TooLong } from "./text.js";

/** How requests are sent. */
export interface Transport {
  /** Milliseconds that an answer may take, from the request to the last byte. */
  timeout: number;
  fetch: typeof globalThis.fetch;
}

/** A failure that another thread has found. */
export class Failed extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.error.message);
    this.failure = failure;
  }
}

/** A request. */
export interface Question {
  /** Its name in messages. */
  label: string;
  url: URL;
  /** The body to post. Without it the request is a GET. */
  body?: string | undefined;
  /** The most bytes of the answer. */
  limit: number;
}

/** The reason why there is no usable answer, and whether another attempt may succeed. */
export interface Failure {
  error: RandomXError;
  again: boolean;
}

/** Receives the bytes of an answer as they arrive, and returns what is kept of them. */
export interface Sink<T> {
  push: (piece: Uint8Array) => void;
  end: () => T;
}

/** The codes of failures. */
type Code = "unreachable" | "timeout" | "refused" | "too-large" | "invalid";

/** The bytes that are parsed in one step: at most a millisecond or two of work. */
const STEP = 8 << 10;

/**
 * The bytes that are parsed before the rest of an answer is read, where the system reads on. They show most
 * of what is no answer, such as a text that is too long for a small one.
 */
const FIRST = 24 << 10;

/** The bytes that are read without a pause: some milliseconds of work. */
const TURN = 1 << 20;

/** The reason to abort a request that takes too long. */
const LATE = Symbol("late");

/** An answer is longer than its share of the budget, and another one has the rest. */
class NoRoom extends Error {}

/** The errors at which the rest of an answer is not read. */
const CUT = [NoRoom, NotJson, TooLarge, TooLong];

/** Sends a request, and returns what a sink keeps of the answer. Each attempt opens a sink. */
export async function send<T>(
  transport: Transport,
  question: Question,
  open: () => Sink<T>,
  signal: AbortSignal | undefined,
): Promise<{ value: T } | Failure> {
  const lease = await Lease.begin(signal);
  try {
    // WebKit may have buffered all of a long answer before a check could refuse it.
    if (BUFFERS_WITHOUT_LIMIT && question.limit > FREE_BYTES) await lease.enlarge(signal);
    for (;;) {
      const outcome = await ask(transport, question, open(), lease, signal);
      if (outcome) return outcome;
      await lease.enlarge(signal);
    }
  } finally {
    lease.end();
  }
}

/** Asks once. Returns `undefined` if the lease does not cover the answer. */
async function ask<T>(
  { timeout, fetch }: Transport,
  { label, url, body, limit }: Question,
  sink: Sink<T>,
  lease: Lease,
  signal: AbortSignal | undefined,
): Promise<{ value: T } | Failure | undefined> {
  if (signal?.aborted) throw aborted(signal);
  const watch = new Watch(timeout, signal);
  let isCut = false;
  lease.sent();
  const exchange = new Exchange(fetch, url, body, { label, limit });
  try {
    const response = await unlessAborted(exchange.response, watch.signal);
    if (!response.ok) {
      lease.isCut = true;
      const busy = response.status === 429 || response.status >= 500;
      return failure("unreachable", `${label}: HTTP status ${response.status}`, busy);
    }
    await read(exchange, response, limit, sink, lease, watch.signal);
    return { value: sink.end() };
  } catch (error) {
    isCut = CUT.some((kind) => error instanceof kind);
    lease.isCut = isCut || watch.signal.aborted;
    if (signal?.aborted) throw aborted(signal);
    if (error instanceof Failed) return error.failure;
    if (watch.isLate) return failure("timeout", `${label}: no answer within ${timeout} ms`, true);
    if (error instanceof NoRoom) return undefined;
    if (error instanceof NotJson) {
      return failure("invalid", `${label}: the answer is not JSON`, false);
    }
    if (error instanceof TooLong) {
      return failure("too-large", `${label}: an answer with too long a text`, false);
    }
    if (error instanceof TooLarge) {
      return failure("too-large", `${label}: an answer of more than ${limit} bytes`, false);
    }
    return failure("unreachable", `${label}: ${reason(error)}`, true, error);
  } finally {
    watch.end();
    exchange.giveUp();
    if (isCut && READS_ON && !BUFFERS_WITHOUT_LIMIT) collect();
  }
}

/** Returns a failure. */
export function failure(code: Code, message: string, again: boolean, cause?: unknown): Failure {
  return { error: new RandomXError(`node-${code}`, message, { cause }), again };
}

/**
 * Passes the bytes of an answer to a sink as they arrive, so that none is kept here. Where the system
 * reads on meanwhile, only the first ones are passed at once. The rest is taken as fast as it arrives,
 * and passed on later. In WebKit the whole answer is read first.
 */
async function read(
  exchange: Exchange,
  response: Response,
  limit: number,
  sink: Sink<unknown>,
  lease: Lease,
  signal: AbortSignal,
): Promise<void> {
  const announced = Number(response.headers.get("Content-Length") ?? 0);
  if (announced > limit) throw new TooLarge();
  if (!lease.covers(announced)) throw new NoRoom();
  if (!response.body) return;
  if (BUFFERS_WITHOUT_LIMIT) {
    const pieces = await readAll(response.body, limit, signal);
    for (let piece = pieces.shift(); piece; piece = pieces.shift()) {
      await pass(piece, sink, signal);
      addReceived(piece.length);
    }
    return;
  }
  const later = new Blocks();
  try {
    await readInto(later, exchange.read(response.body), limit, sink, lease, signal);
    for (const block of later.all) await pass(block, sink, signal);
  } finally {
    later.free();
  }
}

/** Reads all, and keeps what is passed on later. */
async function readInto(
  later: Blocks,
  reader: BodyReader,
  limit: number,
  sink: Sink<unknown>,
  lease: Lease,
  signal: AbortSignal,
): Promise<void> {
  for (let before = 0; ;) {
    const piece = await unlessAborted(reader.read(), signal);
    if (!piece) return;
    const length = before + piece.length;
    if (length > limit) throw new TooLarge();
    if (!lease.covers(length)) throw new NoRoom();
    addReceived(piece.length);
    if (READS_ON) {
      const first = piece.subarray(0, Math.max(0, FIRST - before));
      sink.push(first);
      later.add(piece.subarray(first.length));
      // Not a turn of its own, for which it would wait while more arrives.
      if (Math.floor(length / TURN) > Math.floor(before / TURN)) await pause();
    } else {
      await pass(piece, sink, signal);
    }
    before = length;
  }
}

/** Passes bytes to a sink in steps, and gives way to other work. */
async function pass(bytes: Uint8Array, sink: Sink<unknown>, signal: AbortSignal): Promise<void> {
  for (let at = 0; at < bytes.length; at += STEP) {
    sink.push(bytes.subarray(at, at + STEP));
    if (isOver()) await unlessAborted(rest(), signal);
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
