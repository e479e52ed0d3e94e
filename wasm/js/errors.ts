/**
 * The kinds of failure. They are stable: write code against them, not against messages.
 *
 * - `invalid-argument`: an argument is not what its documentation says; the message names it.
 *   Nothing was started.
 * - `unsupported`: this browser lacks WebAssembly, its SIMD instructions, or module workers, or
 *   a feature that was asked for by name; the message says which.
 * - `wasm-blocked`: the Content-Security-Policy that the worker was served with forbids
 *   WebAssembly; its `script-src` needs `'wasm-unsafe-eval'`.
 * - `out-of-memory`: the 256 MiB of a cache, or a machine's scratchpads, are not to be had.
 *   The instance keeps no cache and stays usable.
 * - `worker-failed`: a worker or its WebAssembly module could not be loaded, or it died at
 *   work. What it was working on rejects; another worker takes its place, and the instance
 *   stays usable.
 * - `queue-full`: so much waits that no more may; nothing was started. Await some of what was asked
 *   for before, or hand `hashMany` an iterable, which is read no faster than it is hashed.
 * - `disposed`: `dispose()` was called before or during the call.
 * - `aborted`: the call's `signal` was aborted; `cause` is the signal's reason. The instance
 *   stays usable.
 * - `node-unreachable`: a node cannot be connected to, or answers with an HTTP status other
 *   than 200.
 * - `node-timeout`: a node did not answer in time, or not to the end.
 * - `node-refused`: a node answers that it cannot or will not; the message has its words.
 * - `node-too-large`: a node's answer is longer than was allowed; the rest is not read.
 * - `node-invalid`: a node's answer is not what was asked for; the message names the field.
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

/** The one class of errors of this package. Its `name` is `AbortError` for code `aborted`. */
export class RandomXError extends Error {
  /** What kind of failure this is. */
  readonly code: RandomXErrorCode;

  /** @internal */
  constructor(code: RandomXErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.name = code === "aborted" ? "AbortError" : "RandomXError";
  }
}

/** The error for an argument that is not what its documentation says. */
export function invalidArgument(name: string, complaint: string): RandomXError {
  return new RandomXError("invalid-argument", `${name}: ${complaint}`);
}

/** The error for a call whose signal was aborted. */
export function aborted(signal: AbortSignal): RandomXError {
  return new RandomXError("aborted", "the call was aborted", { cause: signal.reason });
}

/** What was thrown, as a `RandomXError`. What nobody foresaw is a `worker-failed`. */
export function asRandomXError(thrown: unknown): RandomXError {
  if (thrown instanceof RandomXError) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new RandomXError(isThrownByWasm(thrown) ? thrown.code : "worker-failed", message, {
    cause: thrown,
  });
}

/** Whether the wasm crate threw this on purpose: it sets these two codes and no other. */
function isThrownByWasm(
  thrown: unknown,
): thrown is Error & { code: "invalid-argument" | "out-of-memory" } {
  return (
    thrown instanceof Error &&
    "code" in thrown &&
    (thrown.code === "invalid-argument" || thrown.code === "out-of-memory")
  );
}
