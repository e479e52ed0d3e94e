/** The worker's entry: loads the WebAssembly module and serves requests in their order. */
import loadWasm, * as wasm from "../pkg/randomx_wasm.js";
import { RandomXError, aborted, asRandomXError } from "./errors.js";
import type { FromWorker, Operation, Request, Result, ToWorker } from "./protocol.js";
import { Session, type Control } from "./session.js";
import { checkSupport } from "./support.js";

const session = new Session(wasm, pause);
const waiting = new Map<number, AbortController>();
let last = Promise.resolve();

self.onmessage = ({ data }: MessageEvent<ToWorker>) => {
  if (data.type === "abort") {
    waiting.get(data.id)?.abort();
  } else {
    const abort = new AbortController();
    waiting.set(data.id, abort);
    last = last.then(() => answer(data, abort.signal));
  }
};

async function answer(request: Request, signal: AbortSignal): Promise<void> {
  const { id } = request;
  const onProgress = (done: number): void => {
    say({ type: "progress", id, done });
  };
  try {
    if (signal.aborted) throw aborted(signal);
    say({ type: "result", id, result: await perform(request, { signal, onProgress }) });
  } catch (thrown) {
    const { code, message } = asRandomXError(thrown);
    const error = { code, message };
    say(code === "worker-failed" ? { type: "died", error } : { type: "failure", id, error });
  } finally {
    waiting.delete(id);
  }
}

function perform(
  request: Request,
  control: Control,
): Result<Operation> | Promise<Result<Operation>> {
  switch (request.operation) {
    case "start":
      return start(request.args.lock);
    case "prepare":
      return session.prepare(request.args, control);
    case "hash":
      return session.hash(request.args, control);
    case "hashMany":
      return session.hashMany(request.args, control);
    case "verifyBlock":
      return session.verifyBlock(request.args, control);
    case "commitment":
      return session.commitment(request.args);
    case "seedHeight":
      return session.seedHeight(request.args);
  }
}

async function start(lock: string | undefined): Promise<boolean> {
  checkSupport();
  try {
    await loadWasm();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new RandomXError(
      error instanceof RangeError ? "out-of-memory" : "worker-failed",
      `the WebAssembly module could not be loaded: ${reason}`,
    );
  }
  return lock === undefined ? false : takeLock(lock);
}

/**
 * Takes a lock and keeps it: the browser frees it when this worker is gone, however it went,
 * and the client, which waits for it, knows. Resolves with whether the lock is held.
 */
function takeLock(name: string): Promise<boolean> {
  return new Promise((resolve) => {
    const hold = (): Promise<never> => {
      resolve(true);
      return new Promise(() => undefined);
    };
    navigator.locks.request(name, hold).catch(() => {
      // Some contexts have locks and refuse them.
      resolve(false);
    });
  });
}

/** Lets the messages that have arrived be read. A timer would wait 4 ms each time. */
function pause(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(undefined);
  });
}

function say(message: FromWorker): void {
  self.postMessage(message);
}
