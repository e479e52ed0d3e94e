/**
 * Calls of Monero's daemon over HTTP. Time, size and number of attempts are bounded, because the server
 * may be hostile.
 */
import { unlessAborted } from "../abort.js";
import { aborted } from "../errors.js";
import { JsonReader, type Wanted } from "./json.js";
import { failure, send, type Failure, type Transport } from "./transport.js";

/** Checked settings of a client. */
export interface RpcSettings extends Transport {
  /** The address of the JSON-RPC endpoint. */
  endpoint: URL;
  /** Attempts after the first. */
  retries: number;
  /** The limit for an answer in bytes, if the method's own is not less. */
  maxBytes: number;
}

/** A call. */
export interface Call {
  /** A JSON-RPC method, or with a slash before it the path of another call. */
  method: string;
  params: object;
  /** The fields of the result to keep. */
  wanted: Wanted;
  /** The most bytes of the answer. */
  limit: number;
  /** The most bytes of one text in it. */
  longest: number;
}

/** The first pause between attempts, in milliseconds. Each later pause is twice as long. */
const PAUSE = 250;

/** The daemon's status instead of `OK` while it cannot answer. */
const BUSY = "BUSY";

/** The most characters of a daemon's own message that are quoted. */
const MAX_WORDS = 200;

/** The fields of every answer. */
const ENVELOPE = ["error", "message", "result", "status"] as const;

/** Calls a method and returns its result, an object with status `OK`. */
export async function call(
  settings: RpcSettings,
  asked: Call,
  signal: AbortSignal | undefined,
): Promise<Record<string, unknown>> {
  for (let attempt = 0; ; attempt += 1) {
    if (signal?.aborted) throw aborted(signal);
    const outcome = await attemptOnce(settings, asked, signal);
    if ("result" in outcome) return outcome.result;
    if (!outcome.again || attempt === settings.retries) throw outcome.error;
    await pause(PAUSE * 2 ** attempt * (0.5 + Math.random()), signal);
  }
}

type Outcome = { result: Record<string, unknown> } | Failure;

async function attemptOnce(
  settings: RpcSettings,
  { method, params, wanted, limit, longest }: Call,
  signal: AbortSignal | undefined,
): Promise<Outcome> {
  const isPath = method.startsWith("/");
  const url = isPath ? new URL(settings.endpoint) : settings.endpoint;
  if (isPath) url.pathname = url.pathname.replace(/\/json_rpc$/u, method);
  const body = JSON.stringify(isPath ? params : { jsonrpc: "2.0", id: "0", method, params });
  const fields = new Map([...wanted, ...ENVELOPE.map((name) => [name, 4 * MAX_WORDS] as const)]);
  const label = isPath ? method.slice(1) : method;
  const question = { label, url, body, limit: Math.min(limit, settings.maxBytes) };
  const outcome = await send(settings, question, () => new JsonReader(fields, longest), signal);
  return "error" in outcome ? outcome : read(label, isPath, outcome.value);
}

/** Reads the result in an answer. */
function read(label: string, isPath: boolean, json: unknown): Outcome {
  const answer = isRecord(json) ? json : {};
  if (isRecord(answer.error)) {
    const words = quoted(answer.error.message);
    return failure("refused", `${label}: the node answers ${words}`, false);
  }
  const result = isPath ? json : answer.result;
  if (!isRecord(result)) return failure("invalid", `${label}: the answer has no result`, false);
  const { status } = result;
  if (status === "OK") return { result };
  return failure("refused", `${label}: the node's status is ${quoted(status)}`, status === BUSY);
}

/** Waits. Rejects as soon as the signal is aborted. */
async function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  try {
    await unlessAborted(over, signal);
  } finally {
    clearTimeout(timer);
  }
}

/** Quotes a node's text, shortened. */
function quoted(words: unknown): string {
  return typeof words === "string" ? JSON.stringify(words.slice(0, MAX_WORDS)) : "nothing";
}

/** Returns whether a JSON value is an object. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
