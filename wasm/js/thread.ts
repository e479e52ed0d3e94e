/** Threads, as browsers and Node have them. */
import { nodeModule, type NodeThreads } from "./environment.js";
import { RandomXError } from "./errors.js";
import type { FromWorker, ToWorker } from "./protocol.js";

/** What is heard of a thread. */
export interface Listener {
  /** A message. */
  message: (message: FromWorker) => void;
  /** The thread can no longer be used. */
  failed: (reason: string) => void;
}

/** A thread that runs the worker's script. */
export interface Thread {
  post: (message: ToWorker) => void;
  /** Ends it where it stands. */
  terminate: () => void;
  /** Whether the process must wait for it; browsers do not ask. */
  keepAlive: (wanted: boolean) => void;
}

/** Starts a thread. */
export function startThread(listener: Listener): Thread {
  const threads = typeof Worker === "undefined" && nodeModule("worker_threads");
  try {
    return threads ? startInNode(threads, listener) : startInBrowser(listener);
  } catch (cause) {
    if (cause instanceof RandomXError) throw cause;
    throw new RandomXError("worker-failed", "the worker could not be started", { cause });
  }
}

function startInBrowser(listener: Listener): Thread {
  if (typeof Worker === "undefined") {
    throw new RandomXError("unsupported", "RandomX needs module workers, which are lacking here");
  }
  const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
  worker.onmessage = ({ data }: MessageEvent<FromWorker>) => {
    listener.message(data);
  };
  worker.onmessageerror = () => {
    listener.failed("an answer could not be read");
  };
  worker.onerror = (event) => {
    event.preventDefault();
    // An event without a message tells of a script that never ran.
    const reason = event.message
      ? `the worker died: ${event.message}`
      : "the worker script could not be loaded";
    listener.failed(reason);
  };
  return {
    post: (message) => {
      worker.postMessage(message);
    },
    terminate: () => {
      worker.terminate();
    },
    keepAlive: () => undefined,
  };
}

function startInNode(threads: NodeThreads, listener: Listener): Thread {
  // Not written as bundlers know it: they would make a script for browsers of it.
  const script = "./worker.js";
  const worker = new threads.Worker(new URL(script, import.meta.url));
  worker.on("message", listener.message as (value: unknown) => void);
  worker.on("messageerror", () => {
    listener.failed("an answer could not be read");
  });
  worker.on("error", (error) => {
    listener.failed(`the worker died: ${error instanceof Error ? error.message : String(error)}`);
  });
  worker.on("exit", () => {
    listener.failed("the worker is gone");
  });
  return {
    post: (message) => {
      worker.postMessage(message);
    },
    terminate: () => void worker.terminate(),
    keepAlive: (wanted) => {
      if (wanted) worker.ref();
      else worker.unref();
    },
  };
}
