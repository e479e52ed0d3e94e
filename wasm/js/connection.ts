/** The client's end of a worker: requests out, answers in, and what becomes of both. */
import { lockManager } from "./environment.js";
import { RandomXError, type RandomXErrorCode } from "./errors.js";
import type { Args, FromWorker, Operation, PlainError, Result, ToWorker } from "./protocol.js";
import { startThread, type Thread } from "./thread.js";

interface Waiting {
  resolve: (result: unknown) => void;
  reject: (error: RandomXError) => void;
  onProgress: ((done: number) => void) | undefined;
}

/** A running worker. After its end every request rejects with the reason of the end. */
export class Connection {
  readonly #thread: Thread;
  readonly #watch = new AbortController();
  readonly #onEnd: () => void;
  #waiting: Waiting | undefined;
  #end: PlainError | undefined;

  private constructor(script: string | undefined, onEnd: () => void) {
    this.#onEnd = onEnd;
    const listener = {
      message: (message: FromWorker) => {
        this.#hear(message);
      },
      failed: (reason: string) => {
        void this.close("worker-failed", reason);
      },
    };
    this.#thread = startThread(listener, script);
  }

  /**
   * Starts a worker, with the script at an address if there is one, and has it load its module.
   * One that cannot is not left behind. `onEnd` is called when a worker that had started has come
   * to its end, whatever that was.
   */
  static open(
    script: string | undefined,
    args: Omit<Args<"start">, "lock">,
    onEnd: () => void,
  ): { connection: Connection; started: Promise<Result<"start">> } {
    const connection = new Connection(script, onEnd);
    return { connection, started: connection.#start(args) };
  }

  /** Asks the worker, which must have answered all that it was asked before. */
  request<O extends Operation>(
    operation: O,
    args: Args<O>,
    onProgress?: (done: number) => void,
  ): Promise<Result<O>> {
    if (this.#end) return Promise.reject(error(this.#end));
    return new Promise((resolve, reject) => {
      this.#say({ type: "request", operation, args } as ToWorker);
      this.#thread.keepAlive(true);
      this.#waiting = { resolve: resolve as Waiting["resolve"], reject, onProgress };
    });
  }

  /** Has the worker leave the fill that it is at; its answer is then that it was aborted. */
  abort(): void {
    this.#say({ type: "abort" });
  }

  /**
   * Ends the worker where it stands; the first reason given is the one that stays. Resolves when
   * it is gone, where that can be known.
   */
  close(code: RandomXErrorCode, message: string): Promise<void> {
    if (this.#end) return Promise.resolve();
    this.#end = { code, message };
    // From now on the process waits for its end, which may be waited for.
    const waiting = this.#take();
    const gone = this.#thread.terminate();
    this.#watch.abort();
    waiting?.reject(error(this.#end));
    this.#onEnd();
    return gone;
  }

  async #start(args: Omit<Args<"start">, "lock">): Promise<Result<"start">> {
    const locks = lockManager();
    const lock = locks && `randomx-web ${crypto.randomUUID()}`;
    try {
      const started = await this.request("start", { ...args, lock });
      if (started.held && locks && lock) this.#watchOver(locks, lock);
      return started;
    } catch (error) {
      void this.close("worker-failed", "the worker did not start");
      throw error;
    }
  }

  #hear(message: FromWorker): void {
    switch (message.type) {
      case "progress":
        this.#waiting?.onProgress?.(message.done);
        break;
      case "result":
        this.#take()?.resolve(message.result);
        break;
      case "failure":
        this.#take()?.reject(error(message.error));
        break;
      case "died":
        void this.close(message.error.code, message.error.message);
    }
  }

  #say(message: ToWorker): void {
    this.#thread.post(message);
  }

  #take(): Waiting | undefined {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    this.#thread.keepAlive(false);
    return waiting;
  }

  /** Waits for the lock that the worker keeps: it comes free when the worker is gone. */
  #watchOver(locks: LockManager, lock: string): void {
    locks
      .request(lock, { signal: this.#watch.signal }, () => {
        void this.close("worker-failed", "the worker is gone");
      })
      .catch(() => {
        // The end came first, and the watch was called off.
      });
  }
}

function error({ code, message }: PlainError): RandomXError {
  return new RandomXError(code, message);
}
