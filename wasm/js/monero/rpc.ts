/**
 * JSON-RPC over HTTP, as Monero's daemon speaks it: time, size and number of attempts are bounded,
 * since who answers may be hostile.
 */
import { RandomXError, aborted } from "../errors.js";

/** How a node is asked. Checked. */
export interface RpcSettings {
  /** The address of the JSON-RPC endpoint. */
  endpoint: URL;
  /** Milliseconds that an attempt may take from the request to the last byte. */
  timeout: number;
  /** Attempts after the first one. */
  retries: number;
  /** The longest answer, in bytes. */
  maxBytes: number;
  fetch: typeof globalThis.fetch;
}

/** The first pause between attempts, in milliseconds; each later one is twice as long. */
const PAUSE = 250;

/** What the daemon says instead of `OK` while it cannot answer. */
const BUSY = "BUSY";

/** Why an attempt is ended that takes too long. */
const LATE = Symbol("late");

/** Calls a method and returns its result, an object that says `OK`. */
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

/** An attempt's result, or why there is none and whether another attempt makes sense. */
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
      // Text without a content type is a request that browsers send without asking first.
      body: JSON.stringify({ jsonrpc: "2.0", id: "0", method, params }),
      // A node that sends its askers elsewhere is not the one that was named.
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
    // What is left of an answer that was not read to its end is not wanted.
    watch.abort();
  }
}

/** The result in an answer's text. */
function read(method: string, answer: string): Outcome {
  let json: unknown;
  try {
    json = JSON.parse(answer);
  } catch {
    return failed("node-invalid", `${method}: the answer is not JSON`, false);
  }
  const { error, result } = isRecord(json) ? json : {};
  if (isRecord(error)) {
    return failed("node-refused", `${method}: the node says ${quoted(error.message)}`, false);
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

/** The text of a body that is at most so long. */
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

/** Waits, or rejects as soon as the signal is aborted. */
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

/** What fetch tells of a failure: Node puts the reason into the cause. */
function reason(error: unknown): string {
  if (!(error instanceof Error)) return "the request failed";
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}

/** A node's words, short and on one line. */
function quoted(words: unknown): string {
  return typeof words === "string" ? JSON.stringify(words.slice(0, 200)) : "nothing";
}

/** Whether a value of JSON is an object. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
