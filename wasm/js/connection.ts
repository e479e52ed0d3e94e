/** The client's end of a worker: it sends requests and receives answers. */
import { errorOf, type RandomXError, type RandomXErrorCode } from "./errors.js";
import { newLock, watchLock } from "./lock.js";
import type { Args, FromWorker, Operation, PlainError, Result, ToWorker } from "./protocol.js";
import { startThread, type Thread } from "./thread.js";

/** A request that waits for its answer. */
interface Waiting {
  resolve: (result: unknown) => void;
  reject: (error: RandomXError) => void;
  onProgress: ((done: number) => void) | undefined;
}

/** A connection to a running worker. Once closed, every request rejects with the reason. */
export class Connection {
  readonly #thread: Thread<ToWorker>;
  readonly #onEnd: () => void;
  readonly #failed = (reason: string): void => {
    void this.close("worker-failed", reason);
  };
  /** The requests that the worker has, in order. */
  readonly #waiting: Waiting[] = [];
  #end: PlainError | undefined;

  private constructor(script: string | undefined, onEnd: () => void) {
    this.#onEnd = onEnd;
    const listener = {
      message: (message: FromWorker) => {
        this.#receive(message);
      },
      failed: this.#failed,
    };
    this.#thread = startThread(listener, script);
  }

  /**
   * Starts a worker, whose script can be at another address, and makes it load its module. A worker
   * that cannot start is ended. `onEnd` is called when the worker ends, for whatever reason.
   */
  static open(
    script: string | undefined,
    args: Omit<Args<"start">, "lock">,
    onEnd: () => void,
  ): { connection: Connection; started: Promise<Result<"start">> } {
    const connection = new Connection(script, onEnd);
    return { connection, started: connection.#start(args) };
  }

  /** Sends a request to the worker, which answers one after another. */
  request<O extends Operation>(
    operation: O,
    args: Args<O>,
    onProgress?: (done: number) => void,
  ): Promise<Result<O>> {
    if (this.#end) return Promise.reject(errorOf(this.#end));
    return new Promise((resolve, reject) => {
      this.#send({ type: "request", operation, args } as ToWorker);
      if (this.#waiting.length === 0) this.#thread.keepAlive(true);
      this.#waiting.push({ resolve: resolve as Waiting["resolve"], reject, onProgress });
    });
  }

  /** Makes the worker stop its fill, which then fails with code `aborted`, or writing a cache. */
  abort(): void {
    this.#send({ type: "abort" });
  }

  /**
   * Ends the worker at once. The first reason given is kept. Resolves when the worker is gone, where
   * the system reports that.
   */
  close(code: RandomXErrorCode, message: string): Promise<void> {
    if (this.#end) return Promise.resolve();
    this.#end = { code, message };
    // This lets the process exit. `terminate` then keeps it alive until the worker is gone.
    const waiting = this.#waiting.splice(0);
    this.#thread.keepAlive(false);
    const gone = this.#thread.terminate();
    for (const { reject } of waiting) reject(errorOf(this.#end));
    this.#onEnd();
    return gone;
  }

  async #start(args: Omit<Args<"start">, "lock">): Promise<Result<"start">> {
    const lock = newLock();
    try {
      const started = await this.request("start", { ...args, lock });
      if (started.held && lock !== undefined) watchLock(lock, this.#failed);
      return started;
    } catch (error) {
      void this.close("worker-failed", "the worker did not start");
      throw error;
    }
  }

  #receive(message: FromWorker): void {
    // The worker may have answered before it was ended. Its thread must still keep the process alive.
    if (this.#end) return;
    switch (message.type) {
      case "progress":
        this.#waiting[0]?.onProgress?.(message.done);
        break;
      case "result":
        this.#takeWaiting()?.resolve(message.result);
        break;
      case "failure":
        this.#takeWaiting()?.reject(errorOf(message.error));
        break;
      case "died":
        void this.close(message.error.code, message.error.message);
    }
  }

  #send(message: ToWorker): void {
    this.#thread.post(message);
  }

  #takeWaiting(): Waiting | undefined {
    const waiting = this.#waiting.shift();
    if (this.#waiting.length === 0) this.#thread.keepAlive(false);
    return waiting;
  }
}
