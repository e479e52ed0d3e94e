/**
 * The kinds of failure. They are stable: write code against them, not against messages.
 *
 * - `invalid-argument`: an argument is not what its documentation says. The message names it.
 *   Nothing was started.
 * - `unsupported`: this environment lacks WebAssembly, its SIMD instructions, module workers, native
 *   code, storage, or another feature that the caller requires. The message names it.
 * - `wasm-blocked`: the worker's Content-Security-Policy forbids WebAssembly. Its `script-src`
 *   needs `'wasm-unsafe-eval'`.
 * - `out-of-memory`: a cache (256 MiB), a dataset (2080 MiB), the scratchpads of a VM or another
 *   buffer could not be allocated, or a dataset would exceed `datasetBytes`. The instance stays usable.
 * - `worker-failed`: a worker or a WebAssembly module could not be loaded, or the worker died. The
 *   work that it was doing rejects. Another worker replaces a dead one, and the instance stays usable.
 * - `queue-full`: too much is waiting, and nothing was started. Await earlier calls first, or pass
 *   `hashMany` an iterable, whose inputs wait for room.
 * - `disposed`: `dispose()` was called before or during the call.
 * - `aborted`: the call's `signal` was aborted. `cause` is the signal's reason. The instance stays
 *   usable.
 * - `node-unreachable`: there is no connection to the node, or it answers with an HTTP status other
 *   than 200.
 * - `node-timeout`: the node's answer did not arrive completely in time.
 * - `node-refused`: the node answers that it cannot or will not. The message quotes it.
 * - `node-too-large`: the node's answer is longer than allowed. The rest is not read.
 * - `node-invalid`: the node's answer does not fit the request. The message names the field.
 */
export type RandomXErrorCode =
  | "invalid-argument"
  | "unsupported"
  | "wasm-blocked"
  | "out-of-memory"
  | "worker-failed"
  | "queue-full"
  | "disposed"
  | "aborted"
  | "node-unreachable"
  | "node-timeout"
  | "node-refused"
  | "node-too-large"
  | "node-invalid";

/** Control and formatting characters. Some reverse or hide the text around them. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** The class of this package's errors, with a code. Its `name` is `AbortError` for code `aborted`. */
export class RandomXError extends Error {
  /** The kind of failure. */
  readonly code: RandomXErrorCode;

  /** Makes an error, for a store of your own or a test. Control characters of its message are escaped. */
  constructor(code: RandomXErrorCode, message: string, options?: ErrorOptions) {
    super(escaped(message), options);
    this.code = code;
    this.name = code === "aborted" ? "AbortError" : "RandomXError";
  }
}

/** Returns the error for an argument that is not what its documentation says. */
export function invalidArgument(name: string, complaint: string): RandomXError {
  return new RandomXError("invalid-argument", `${name}: ${complaint}`);
}

/** Returns the error that a worker has sent as its code and its message. */
export function errorOf({
  code,
  message,
}: {
  code: RandomXErrorCode;
  message: string;
}): RandomXError {
  return new RandomXError(code, message);
}

/** Returns the error for a call whose signal was aborted. */
export function aborted(signal: AbortSignal): RandomXError {
  return new RandomXError("aborted", "the call was aborted", { cause: signal.reason });
}

/** Turns anything thrown into a `RandomXError`: an unforeseen error becomes `worker-failed`. */
export function asRandomXError(thrown: unknown): RandomXError {
  try {
    if (thrown instanceof RandomXError) return thrown;
    const message = String(thrown instanceof Error ? thrown.message : thrown);
    return new RandomXError(codeOf(thrown), message, { cause: thrown });
  } catch (cause) {
    // A revoked Proxy, or an object without a prototype.
    return new RandomXError("worker-failed", "the thrown value cannot be read", { cause });
  }
}

/** Runs a call. Only `RandomXError`s leave it. */
export function guardedSync<T>(call: () => T): T {
  try {
    return call();
  } catch (thrown) {
    throw asRandomXError(thrown);
  }
}

/**
 * Returns the code of an error of a WebAssembly module or the native add-on, which have one of these three, of Node-API,
 * such as `NumberExpected` for an argument of another type, or of the engine. Without memory for a module or a buffer,
 * engines throw a `RangeError`.
 */
function codeOf(thrown: unknown): RandomXErrorCode {
  if (thrown instanceof RangeError) return "out-of-memory";
  const code = thrown instanceof Error && "code" in thrown && String(thrown.code);
  if (code === "invalid-argument" || code === "out-of-memory") return code;
  return code && /^InvalidArg$|Expected$/.test(code) ? "invalid-argument" : "worker-failed";
}

/** Escapes control characters: messages quote callers, servers and blocks, and may end up in a terminal. */
export function escaped(message: string): string {
  return message.replace(INVISIBLE, (found) => `\\u{${found.codePointAt(0)?.toString(16)}}`);
}
