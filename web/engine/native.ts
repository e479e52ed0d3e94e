/**
 * This machine's own RandomX, as `randomx serve` offers it to the page that it serves. A page from
 * elsewhere has none.
 */
import { EventSourceParserStream } from "eventsource-parser/stream";

/** What runs programs there. */
export type NativeEngine = "interpreter" | "jit";

/** Where dataset items come from there. */
export type NativeMode = "light" | "fast";

/** What the machine has, and the server can do and is at. */
export interface NativeInfo {
  name: "randomx";
  version: string;
  cpu: { model: string; processors: number; features: string[] };
  memory: { total: number | null; available: number | null };
  engines: { engine: NativeEngine; mode: NativeMode; available: boolean; why?: string }[];
  fast: { state: "off" | "starting" | "ready"; key?: string; bytes: number; progress?: number };
  limits: { body: number; inputs: number; threads: number; lanes: number };
}

/** How far a phase of some work is, 0 to 1. */
export interface NativeProgress {
  phase: "cache" | "dataset" | "hash";
  done: number;
}

/** A hash, and its part of the milliseconds that a thread took for its batch. */
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
  engine: NativeEngine;
  mode: NativeMode;
  threads?: number;
  lanes?: number;
}

/** Milliseconds of hashing, and of what came before it: the key's cache. */
export interface NativeDone {
  count: number;
  ms: number;
  prepareMs: number;
}

/** A row of the native benchmarks. */
export interface NativeRow {
  what: string;
  unit: string;
  value: number | null;
  low: number | null;
  high: number | null;
}

/** How work is followed and stopped. */
export interface Following {
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: NativeProgress) => void) | undefined;
}

/** What the server says went wrong, or `unreachable`. */
export class NativeError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.name = "NativeError";
    this.code = code;
  }
}

/** The server's own words about itself; nothing where the page comes from somewhere else. */
export async function nativeInfo(signal?: AbortSignal): Promise<NativeInfo | undefined> {
  try {
    const answer = await ask("info", { signal });
    const isJson = answer.headers.get("Content-Type")?.startsWith("application/json");
    if (!answer.ok || !isJson) return undefined;
    const info = (await answer.json()) as Partial<NativeInfo>;
    return info.name === "randomx" ? (info as NativeInfo) : undefined;
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof NativeError || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Hashes inputs; each is told when it is there, in no certain order. */
export async function nativeHash(
  job: NativeJob,
  onHash: (hash: NativeHash) => void,
  following: Following = {},
): Promise<NativeDone> {
  return follow<NativeDone>("hash", job, following, (name, data) => {
    if (name === "hash") onHash(data as NativeHash);
  });
}

/** Measures what hashes are made of, row by row. */
export async function nativeBench(
  seconds: number,
  onRow: (row: NativeRow) => void,
  following: Following = {},
): Promise<void> {
  await follow("bench", { seconds }, following, (name, data) => {
    if (name === "row") onRow(data as NativeRow);
  });
}

/** Computes a key's dataset, 2080 MiB, which is kept until it is stopped. */
export async function startFast(key: string, following: Following = {}): Promise<void> {
  await follow("fast", { key }, following, () => undefined);
}

/** Gives the dataset back, also one that is being computed. */
export async function stopFast(): Promise<void> {
  const answer = await ask("fast", { method: "DELETE" });
  if (!answer.ok) throw await failure(answer);
}

/** Posts work and hears its events to the end. */
async function follow<Done>(
  path: string,
  body: unknown,
  { signal, onProgress }: Following,
  onEvent: (name: string | undefined, data: unknown) => void,
): Promise<Done> {
  const answer = await ask(path, {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "text/event-stream" },
    body: JSON.stringify(body),
    signal,
  });
  if (!answer.ok || !answer.body) throw await failure(answer);
  const events = answer.body
    .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array<ArrayBuffer>>)
    .pipeThrough(new EventSourceParserStream())
    .getReader();
  try {
    for (;;) {
      const { done, value } = await events.read();
      if (done) throw new NativeError("unreachable", "the server went away");
      const data: unknown = JSON.parse(value.data);
      if (value.event === "done") return data as Done;
      if (value.event === "error") throw asError(data);
      if (value.event === "progress") onProgress?.(data as NativeProgress);
      else onEvent(value.event, data);
    }
  } catch (error) {
    signal?.throwIfAborted();
    throw error instanceof TypeError ? gone(error) : error;
  } finally {
    // What is left of the work ends with the connection.
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
    signal?.throwIfAborted();
    throw gone(error);
  }
}

function gone(error: unknown): NativeError {
  return new NativeError("unreachable", error instanceof Error ? error.message : String(error));
}

async function failure(answer: Response): Promise<NativeError> {
  const body = (await answer.json().catch(() => undefined)) as { error?: unknown } | undefined;
  return body?.error ? asError(body.error) : gone(`status ${answer.status}`);
}

function asError(data: unknown): NativeError {
  const { code = "internal", message = "" } = (data ?? {}) as { code?: string; message?: string };
  return new NativeError(code, message);
}

/** What the native build is, and what else there is to say of it; or that it is not there. */
export function nativeWords(native: NativeInfo | undefined, more: string): string {
  if (native) {
    const { model, processors } = native.cpu;
    return `Native: randomx ${native.version} on ${model}, ${processors} processors. ${more}`;
  }
  return (
    "The native build is not there: this page does not come from randomx serve." +
    " In a clone of the repository, npm start starts it."
  );
}
