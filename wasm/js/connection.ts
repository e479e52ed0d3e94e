/** The client's end of a worker: requests out, answers in, and what becomes of both. */
import { RandomXError, aborted, type RandomXErrorCode } from "./errors.js";
import type { Args, FromWorker, Operation, PlainError, Result, ToWorker } from "./protocol.js";

/** How one request is followed and stopped. */
export interface Follow {
  /** Aborting rejects the request at once and has the worker drop it. */
  signal?: AbortSignal | undefined;
  /** Hears the part of the cache that is filled, 0 to 1. */
  onProgress?: ((done: number) => void) | undefined;
}

interface Waiting {
  resolve: (result: unknown) => void;
  reject: (error: RandomXError) => void;
  onProgress: Follow["onProgress"];
  /** Stops listening to the signal. */
  forget: () => void;
}

/** A running worker. After its end every request rejects with the reason of the end. */
export class Connection {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  readonly #watch = new AbortController();
  #requests = 0;
  #end: PlainError | undefined;

  private constructor(worker: Worker) {
    this.#worker = worker;
    worker.onmessage = ({ data }: MessageEvent<FromWorker>) => {
      this.#hear(data);
    };
    worker.onmessageerror = () => {
      this.close("worker-failed", "an answer could not be read");
    };
    worker.onerror = (event) => {
      event.preventDefault();
      // An event without a message tells of a script that never ran.
      const reason = event.message
        ? `the worker died: ${event.message}`
        : "the worker script could not be loaded";
      this.close("worker-failed", reason);
    };
  }

  /** Starts a worker and has it load its module. A worker that cannot is not left behind. */
  static async open(): Promise<Connection> {
    const connection = new Connection(startWorker());
    const locks = lockManager();
    const lock = locks && `randomx-web ${crypto.randomUUID()}`;
    try {
      const held = await connection.request("start", { lock });
      if (held && locks && lock) connection.#watchOver(locks, lock);
    } catch (error) {
      connection.close("worker-failed", "the worker did not start");
      throw error;
    }
    return connection;
  }

  /** Asks the worker; answers come in the order of the requests. */
  request<O extends Operation>(
    operation: O,
    args: Args<O>,
    { signal, onProgress }: Follow = {},
  ): Promise<Result<O>> {
    if (this.#end) return Promise.reject(error(this.#end));
    if (signal?.aborted) return Promise.reject(aborted(signal));

    const id = (this.#requests += 1);
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        this.#say({ type: "abort", id });
        if (signal) this.#take(id)?.reject(aborted(signal));
      };
      this.#say({ type: "request", id, operation, args } as ToWorker);
      this.#waiting.set(id, {
        resolve: resolve as Waiting["resolve"],
        reject,
        onProgress,
        forget: () => signal?.removeEventListener("abort", stop),
      });
      signal?.addEventListener("abort", stop);
    });
  }

  /** Ends the worker where it stands; the first reason given is the one that stays. */
  close(code: RandomXErrorCode, message: string): void {
    this.#end ??= { code, message };
    this.#worker.terminate();
    this.#watch.abort();
    for (const id of [...this.#waiting.keys()]) this.#take(id)?.reject(error(this.#end));
  }

  #hear(message: FromWorker): void {
    switch (message.type) {
      case "progress":
        this.#waiting.get(message.id)?.onProgress?.(message.done);
        break;
      case "result":
        this.#take(message.id)?.resolve(message.result);
        break;
      case "failure":
        this.#take(message.id)?.reject(error(message.error));
        break;
      case "died":
        this.close(message.error.code, message.error.message);
    }
  }

  #say(message: ToWorker): void {
    this.#worker.postMessage(message);
  }

  #take(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    waiting?.forget();
    return waiting;
  }

  /** Waits for the lock that the worker keeps: it comes free when the worker is gone. */
  #watchOver(locks: LockManager, lock: string): void {
    locks
      .request(lock, { signal: this.#watch.signal }, () => {
        this.close("worker-failed", "the worker is gone");
      })
      .catch(() => {
        // The end came first, and the watch was called off.
      });
  }
}

function startWorker(): Worker {
  if (typeof Worker === "undefined") {
    throw new RandomXError("unsupported", "RandomX needs module workers, which are lacking here");
  }
  try {
    return new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
  } catch (cause) {
    throw new RandomXError("worker-failed", "the worker could not be started", { cause });
  }
}

/** The browser's locks, which only secure contexts have. */
function lockManager(): LockManager | undefined {
  return (navigator as Partial<Navigator>).locks;
}

function error({ code, message }: PlainError): RandomXError {
  return new RandomXError(code, message);
}
