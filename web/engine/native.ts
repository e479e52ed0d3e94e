/**
 * The native RandomX of this machine, which `randomx serve` offers to its own page. A page from
 * another server has none.
 */
import { EventSourceParserStream } from "eventsource-parser/stream";
import { abortedWith, throwIfAborted } from "../shell/abort.js";

/** The native engines. */
export type NativeEngine = "interpreter" | "jit";

/** Whether dataset items are computed from a cache or read from a dataset. */
export type NativeMode = "light" | "fast";

/** The machine, and the server's abilities and state. */
export interface NativeInfo {
  name: "randomx";
  version: string;
  cpu: { model: string; processors: number; features: string[] };
  memory: { total: number | null; available: number | null };
  engines: { engine: NativeEngine; mode: NativeMode; available: boolean; why?: string }[];
  fast: { state: "off" | "starting" | "ready"; key?: string; bytes: number; progress?: number };
  limits: { body: number; inputs: number; threads: number; lanes: number };
}

/** Progress of a phase, 0 to 1. */
export interface NativeProgress {
  phase: "cache" | "dataset" | "hash";
  done: number;
}

/** A hash, and its share of the milliseconds that a thread took for its batch. */
export interface NativeHash {
  index: number;
  hash: string;
  ms: number;
}

/** Inputs to hash; bytes are in hex. */
export interface NativeJob {
  key: string;
  inputs: readonly string[];
  version: 1 | 2;
  /** `auto` stands for what the server was started with: by default the JIT where it can run. */
  engine: NativeEngine | "auto";
  mode: NativeMode;
  threads?: number;
  lanes?: number;
}

/** Milliseconds of hashing, and of filling the key's cache before it. */
export interface NativeDone {
  count: number;
  ms: number;
  prepareMs: number;
  /** Hashes that a thread computed together, at most as many as requested. */
  lanes: number;
}

/** A row of the native benchmarks. */
export interface NativeRow {
  what: string;
  unit: string;
  value: number | null;
  low: number | null;
  high: number | null;
}

/** How a caller observes and stops work. */
export interface Observer {
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: NativeProgress) => void) | undefined;
}

/** How long the server may take to describe itself, in milliseconds. */
const INFO_MS = 5000;

/** The header of a request with a body. */
const JSON_BODY = { "Content-Type": "application/json" };

/** An error with the server's code, or `unreachable`. */
export class NativeError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.name = "NativeError";
    this.code = code;
  }
}

/** Returns the server's description of itself, or nothing if another server sent the page, or if none comes in time. */
export async function nativeInfo(signal: AbortSignal): Promise<NativeInfo | undefined> {
  const asked = abortedWith(signal);
  setTimeout(() => {
    asked.abort();
  }, INFO_MS);
  try {
    const answer = await ask("info", { signal: asked.signal });
    const info = (await answer.json()) as Partial<NativeInfo>;
    const { name, engines, cpu, limits } = info;
    const isWhole = Array.isArray(engines) && engines.every(Boolean) && cpu && limits;
    return name === "randomx" && isWhole ? (info as NativeInfo) : undefined;
  } catch {
    return undefined;
  }
}

/** Hashes inputs. `onHash` receives each hash when it is ready, in any order. */
export async function nativeHash(
  job: NativeJob,
  onHash: (hash: NativeHash) => void,
  observer: Observer = {},
): Promise<NativeDone> {
  return follow<NativeDone>("hash", job, observer, (name, data) => {
    if (name === "hash") onHash(data as NativeHash);
  });
}

/** Measures the parts of a hash. `onRow` receives each row when it is ready. */
export async function nativeBench(
  seconds: number,
  onRow: (row: NativeRow) => void,
  observer: Observer = {},
): Promise<void> {
  await follow("bench", { seconds }, observer, (name, data) => {
    if (name === "row") onRow(data as NativeRow);
  });
}

/** Computes a key's dataset of 2080 MiB, and returns a lease, which ends with `stopFast`. */
export async function startFast(key: string, observer: Observer = {}): Promise<string> {
  const done = await follow<{ lease: string }>("fast", { key }, observer, () => undefined);
  return done.lease;
}

/** Ends a lease. The server frees the dataset if no other tab or program has one. */
export async function stopFast(lease: string): Promise<void> {
  const answer = await ask("fast", {
    method: "DELETE",
    headers: JSON_BODY,
    body: JSON.stringify({ lease }),
  });
  if (!answer.ok) throw await failure(answer, "fast");
}

/** Posts work, and reads its events until the last. */
async function follow<Done>(
  path: string,
  body: unknown,
  { signal, onProgress }: Observer,
  onEvent: (name: string | undefined, data: unknown) => void,
): Promise<Done> {
  const answer = await ask(path, {
    method: "POST",
    headers: { ...JSON_BODY, Accept: "text/event-stream" },
    body: JSON.stringify(body),
    signal,
  });
  if (!answer.ok || !answer.body) throw await failure(answer, path);
  const events = answer.body
    .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array<ArrayBuffer>>)
    .pipeThrough(new EventSourceParserStream())
    .getReader();
  try {
    for (;;) {
      const { done, value } = await events.read();
      if (done) throw unreachable("it closed the connection");
      const data: unknown = JSON.parse(value.data);
      if (value.event === "done") return data as Done;
      if (value.event === "error") throw asError(data, path);
      if (value.event === "progress") onProgress?.(data as NativeProgress);
      else onEvent(value.event, data);
    }
  } catch (error) {
    throwIfAborted(signal);
    throw error instanceof TypeError ? unreachable(error) : error;
  } finally {
    // The server stops the work when the connection closes.
    await events.cancel().catch(() => undefined);
  }
}

async function ask(
  path: string,
  options: Omit<RequestInit, "signal"> & { signal?: AbortSignal | undefined },
): Promise<Response> {
  const { signal = null, ...rest } = options;
  try {
    return await fetch(`./api/${path}`, { ...rest, signal });
  } catch (error) {
    throwIfAborted(signal);
    throw unreachable(error);
  }
}

function unreachable(error: unknown): NativeError {
  const reason = error instanceof Error ? error.message : String(error);
  const words = `the server of this page, randomx serve, does not answer any more (${reason})`;
  return new NativeError("unreachable", words);
}

async function failure(answer: Response, path: string): Promise<NativeError> {
  const body = (await answer.json().catch(() => undefined)) as { error?: unknown } | undefined;
  return body?.error ? asError(body.error, path) : unreachable(`status ${answer.status}`);
}

function asError(data: unknown, path: string): NativeError {
  const { code = "internal", message = "" } = (data ?? {}) as { code?: string; message?: string };
  if (code === "busy") {
    const what = path === "fast" ? "fast mode" : "the native build";
    const words = `another tab or program uses ${what}; try again when it has finished`;
    return new NativeError(code, words);
  }
  return new NativeError(code, message);
}

/** Describes the native build, followed by a `note`, or says that it is not available. */
export function describeNative(native: NativeInfo | undefined, note: string): string {
  if (native) {
    const { model, processors } = native.cpu;
    return `Native: randomx ${native.version} on ${model}, ${processors} processors. ${note}`;
  }
  return (
    "The native build is not available: this page does not come from randomx serve." +
    " In a clone of the repository, npm start starts the server."
  );
}
