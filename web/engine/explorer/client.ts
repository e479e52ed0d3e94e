/** The connection of a view to its explorer worker. */
import { aborted, RandomXError } from "../../../wasm/js/errors.js";
import type { FromWorker, Progress, RequestName, Requests, ToWorker } from "./protocol.js";

/** A request without an answer yet. */
interface Pending {
  resolve: (answer: never) => void;
  reject: (error: RandomXError) => void;
  onProgress: (progress: Progress) => void;
}

/** Options of a request. */
export interface RequestOptions {
  signal: AbortSignal;
  onProgress?: (progress: Progress) => void;
}

/** Sends requests to a worker one after another. The first request starts the worker. */
export class Client {
  #worker: Worker | undefined;
  #pending: Pending | undefined;
  /** Settles when all earlier requests have. */
  #earlier: Promise<unknown> = Promise.resolve();

  /** Sends a request when the earlier ones have their answers. */
  request<Q extends RequestName>(
    name: Q,
    args: Requests[Q]["args"],
    options: RequestOptions,
  ): Promise<Requests[Q]["answer"]> {
    const answer = this.#earlier.then(() => this.#send(name, args, options));
    this.#earlier = answer.catch(() => undefined);
    return answer;
  }

  /** Terminates the worker, which frees its memory. */
  close(): void {
    this.#end(new RandomXError("aborted", "the view was closed"));
  }

  async #send<Q extends RequestName>(
    name: Q,
    args: Requests[Q]["args"],
    { signal, onProgress }: RequestOptions,
  ): Promise<Requests[Q]["answer"]> {
    const abort = (): void => {
      this.#worker?.postMessage({ type: "abort" } satisfies ToWorker);
    };
    signal.addEventListener("abort", abort);
    try {
      const answer = await new Promise<Requests[Q]["answer"]>((resolve, reject) => {
        if (signal.aborted) throw aborted(signal);
        // The worker may report progress before the abort arrives.
        const report = (progress: Progress): void => {
          if (!signal.aborted) onProgress?.(progress);
        };
        this.#pending = { resolve, reject, onProgress: report };
        this.#worker ??= this.#start();
        this.#worker.postMessage({ type: "request", name, args });
      });
      // The worker cannot stop a hash, and answers after the abort.
      if (signal.aborted) throw aborted(signal);
      return answer;
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }

  #start(): Worker {
    const worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
    worker.onmessage = ({ data }: MessageEvent<FromWorker>) => {
      this.#receive(data);
    };
    worker.onerror = (event) => {
      event.preventDefault();
      const reason = event.message ? event.message : "its script could not be loaded";
      this.#end(new RandomXError("worker-failed", `the worker died: ${reason}`));
    };
    return worker;
  }

  #receive(message: FromWorker): void {
    if (message.type === "progress") {
      this.#pending?.onProgress(message.progress);
      return;
    }
    if (message.type === "failure" && message.code === "worker-failed") {
      // The cause is unknown, so the worker is not used again.
      this.#end(new RandomXError(message.code, message.message));
      return;
    }
    const pending = this.#pending;
    this.#pending = undefined;
    if (message.type === "answer") pending?.resolve(message.answer as never);
    else pending?.reject(new RandomXError(message.code, message.message));
  }

  #end(error: RandomXError): void {
    this.#worker?.terminate();
    this.#worker = undefined;
    this.#pending?.reject(error);
    this.#pending = undefined;
  }
}
