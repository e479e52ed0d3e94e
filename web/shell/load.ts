/** Loading the page's own files. */
import { RandomXError } from "../../wasm/js/errors.js";
import { abortedWith, throwIfAborted } from "./abort.js";

/** An error that says that the page's server is gone. */
export class ServerGone extends Error {
  constructor(cause: unknown) {
    super("the server of this page does not answer", { cause });
    this.name = "ServerGone";
  }
}

/** The milliseconds after which a server that has not begun to answer is gone. */
const TIMEOUT = 30_000;

/** Fetches one of the page's own files. */
export async function load(url: string, signal: AbortSignal): Promise<Response> {
  const stop = abortedWith(signal);
  const timer = setTimeout(() => {
    stop.abort();
  }, TIMEOUT);
  let answer: Response;
  try {
    answer = await fetch(url, { signal: stop.signal });
  } catch (error) {
    throwIfAborted(signal);
    throw new ServerGone(error);
  } finally {
    clearTimeout(timer);
  }
  if (answer.ok) return answer;
  throw new Error(`the server of this page answers with status ${answer.status}`);
}

/** Returns the cause of an error: a worker cannot start if the page's server is gone. */
export async function causeOf(error: unknown): Promise<unknown> {
  if (!(error instanceof RandomXError) || error.code !== "worker-failed") return error;
  try {
    // The service worker answers a GET request offline too, and no HEAD.
    await fetch("./", { cache: "no-store" });
    return error;
  } catch {
    return new ServerGone(error);
  }
}
