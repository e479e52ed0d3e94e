/** A view's end of its worker. */
import { RandomXError } from "../../../wasm/js/errors.js";
import type { FromWorker, Progress, Question, Questions, ToWorker } from "./protocol.js";

interface Waiting {
  resolve: (answer: never) => void;
  reject: (error: RandomXError) => void;
  onProgress: (progress: Progress) => void;
}

/** How to ask. */
export interface AskOptions {
  signal: AbortSignal;
  onProgress?: (progress: Progress) => void;
}

/** A worker that starts with the first question, and answers one after another. */
export class Client {
  #worker: Worker | undefined;
  #waiting: Waiting | undefined;
  /** The questions before. */
  #turn: Promise<unknown> = Promise.resolve();

  /** Asks, when those who asked before have their answers. */
  ask<Q extends Question>(
    question: Q,
    args: Questions[Q]["args"],
    options: AskOptions,
  ): Promise<Questions[Q]["answer"]> {
    const answer = this.#turn.then(() => this.#ask(question, args, options));
    this.#turn = answer.catch(() => undefined);
    return answer;
  }

  /** Ends the worker where it stands, and gives its memory back. */
  close(): void {
    this.#end(new RandomXError("aborted", "the view was left"));
  }

  #ask<Q extends Question>(
    question: Q,
    args: Questions[Q]["args"],
    { signal, onProgress }: AskOptions,
  ): Promise<Questions[Q]["answer"]> {
    const abort = (): void => {
      this.#worker?.postMessage({ type: "abort" } satisfies ToWorker);
    };
    signal.addEventListener("abort", abort);
    const answer = new Promise<Questions[Q]["answer"]>((resolve, reject) => {
      if (signal.aborted) throw new RandomXError("aborted", "the work was aborted");
      // What was under way when it was told to stop is no news.
      const tell = (progress: Progress): void => {
        if (!signal.aborted) onProgress?.(progress);
      };
      this.#waiting = { resolve, reject, onProgress: tell };
      this.#worker ??= this.#start();
      this.#worker.postMessage({ type: "ask", question, args });
    });
    return answer.finally(() => {
      signal.removeEventListener("abort", abort);
    });
  }

  #start(): Worker {
    const worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
    worker.onmessage = ({ data }: MessageEvent<FromWorker>) => {
      this.#hear(data);
    };
    worker.onerror = (event) => {
      event.preventDefault();
      const reason = event.message ? event.message : "its script could not be loaded";
      this.#end(new RandomXError("worker-failed", `the worker died: ${reason}`));
    };
    return worker;
  }

  #hear(message: FromWorker): void {
    if (message.type === "progress") {
      this.#waiting?.onProgress(message.progress);
      return;
    }
    if (message.type === "failure" && message.code === "worker-failed") {
      // What has failed for no reason that it knows is not asked again.
      this.#end(new RandomXError(message.code, message.message));
      return;
    }
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (message.type === "answer") waiting?.resolve(message.answer as never);
    else waiting?.reject(new RandomXError(message.code, message.message));
  }

  #end(error: RandomXError): void {
    this.#worker?.terminate();
    this.#worker = undefined;
    this.#waiting?.reject(error);
    this.#waiting = undefined;
  }
}
