/**
 * JSON-RPC over HTTP with Monero's daemon. Time, size and number of attempts are bounded, because the
 * server may be hostile.
 */
import { RandomXError, aborted } from "../errors.js";

/** Checked settings of a client. */
export interface RpcSettings {
  /** The address of the JSON-RPC endpoint. */
  endpoint: URL;
  /** Milliseconds that an attempt may take from the request to the last byte. */
  timeout: number;
  /** Attempts after the first. */
  retries: number;
  /** The limit for an answer in bytes. */
  maxBytes: number;
  fetch: typeof globalThis.fetch;
}

/** The first pause between attempts, in milliseconds. Each later pause is twice as long. */
const PAUSE = 250;

/** The daemon's status instead of `OK` while it cannot answer. */
const BUSY = "BUSY";

/** The reason to abort an attempt that takes too long. */
const LATE = Symbol("late");

/** Calls a method and returns its result, an object with status `OK`. */
export async function call(
  settings: RpcSettings,
  method: string,
  params: object,
  signal: AbortSignal | undefined,
): Promise<Record<string, unknown>> {
  for (let attempt = 0; ; attempt += 1) {
    if (signal?.aborted) throw aborted(signal);
    const outcome = await attemptOnce(settings, method, params, signal);
    if ("result" in outcome) return outcome.result;
    if (!outcome.again || attempt === settings.retries) throw outcome.error;
    await pause(PAUSE * 2 ** attempt * (0.5 + Math.random()), signal);
  }
}

/** An attempt's result, or its error and whether another attempt may succeed. */
type Outcome = { result: Record<string, unknown> } | { error: RandomXError; again: boolean };

async function attemptOnce(
  settings: RpcSettings,
  method: string,
  params: object,
  signal: AbortSignal | undefined,
): Promise<Outcome> {
  const { endpoint, timeout, maxBytes, fetch } = settings;
  const watch = new AbortController();
  const onAbort = (): void => {
    watch.abort();
  };
  signal?.addEventListener("abort", onAbort);
  const timer = setTimeout(() => {
    watch.abort(LATE);
  }, timeout);
  try {
    const response = await fetch(endpoint, {
      method: "POST",
      // Browsers send text without a content type without a preflight request.
      body: JSON.stringify({ jsonrpc: "2.0", id: "0", method, params }),
      // The caller named this server, and no other.
      redirect: "error",
      credentials: "omit",
      referrerPolicy: "no-referrer",
      signal: watch.signal,
    });
    if (!response.ok) {
      void response.body?.cancel().catch(() => undefined);
      const busy = response.status === 429 || response.status >= 500;
      return failed("node-unreachable", `${method}: HTTP status ${response.status}`, busy);
    }
    return read(method, await text(response, maxBytes));
  } catch (error) {
    if (signal?.aborted) throw aborted(signal);
    if (watch.signal.reason === LATE) {
      return failed("node-timeout", `${method}: no answer within ${timeout} ms`, true);
    }
    if (error instanceof TooLarge) {
      return failed("node-too-large", `${method}: an answer of more than ${maxBytes} bytes`, false);
    }
    return failed("node-unreachable", `${method}: ${reason(error)}`, true, error);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
    // Cancels the rest of an answer that was not read to its end.
    watch.abort();
  }
}

/** Reads the result in an answer's text. */
function read(method: string, answer: string): Outcome {
  let json: unknown;
  try {
    json = JSON.parse(answer);
  } catch {
    return failed("node-invalid", `${method}: the answer is not JSON`, false);
  }
  const { error, result } = isRecord(json) ? json : {};
  if (isRecord(error)) {
    return failed("node-refused", `${method}: the node answers ${quoted(error.message)}`, false);
  }
  if (!isRecord(result)) {
    return failed("node-invalid", `${method}: the answer has no result`, false);
  }
  const { status } = result;
  if (status === "OK") return { result };
  return failed(
    "node-refused",
    `${method}: the node's status is ${quoted(status)}`,
    status === BUSY,
  );
}

class TooLarge extends Error {}

/** Reads a body as text. */
async function text(response: Response, maxBytes: number): Promise<string> {
  if (Number(response.headers.get("Content-Length") ?? 0) > maxBytes) throw new TooLarge();
  const reader = response.body?.getReader();
  if (!reader) return "";
  const decoder = new TextDecoder();
  let length = 0;
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    length += value.length;
    if (length > maxBytes) throw new TooLarge();
    text += decoder.decode(value, { stream: true });
  }
}

/** Waits. Rejects as soon as the signal is aborted. */
function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      clearTimeout(timer);
      if (signal) reject(aborted(signal));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, milliseconds);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

function failed(
  code: "node-unreachable" | "node-timeout" | "node-refused" | "node-too-large" | "node-invalid",
  message: string,
  again: boolean,
  cause?: unknown,
): Outcome {
  return { error: new RandomXError(code, message, { cause }), again };
}

/** Returns fetch's reason for a failure. Node puts it into the cause. */
function reason(error: unknown): string {
  if (!(error instanceof Error)) return "the request failed";
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}

/** Quotes a node's text, shortened. */
function quoted(words: unknown): string {
  return typeof words === "string" ? JSON.stringify(words.slice(0, 200)) : "nothing";
}

/** Tells whether a JSON value is an object. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
