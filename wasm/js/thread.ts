/** Threads of browsers and of Node behind one interface. */
import { nodeThreads, type NodeThreads, type NodeWorkerOptions } from "./environment.js";
import { RandomXError } from "./errors.js";

/** The listeners of a thread's owner. */
export interface Listener<From> {
  /** The thread sent a message. */
  message: (message: From) => void;
  /** The thread can no longer be used. */
  failed: (reason: string) => void;
}

/** A thread that runs the worker's script. */
export interface Thread<To> {
  post: (message: To, transfer?: ArrayBuffer[]) => void;
  /** Ends the thread at once. Browsers do not report when it is gone. */
  terminate: () => Promise<void>;
  /** Sets whether the thread keeps the process alive. Browsers ignore it. */
  keepAlive: (wanted: boolean) => void;
}

/** The error before the first message of the package's own script. The usual cause is a bundle without the script. */
const NOT_STARTED =
  "the worker did not start (bundles for servers must leave randomx-web external)";
/** The error after the first message, or with a script that the caller named. */
const DIED = "the worker died";

/** Starts a thread with the package's worker script, or with the one at an address. */
export function startThread<To, From>(
  listener: Listener<From>,
  script: string | undefined,
): Thread<To> {
  const threads = nodeThreads();
  try {
    return threads ? startInNode(threads, listener, script) : startInBrowser(listener, script);
  } catch (cause) {
    if (cause instanceof RandomXError) throw cause;
    throw new RandomXError("worker-failed", "the worker could not be started", { cause });
  }
}

function startInBrowser<To, From>(
  listener: Listener<From>,
  script: string | undefined,
): Thread<To> {
  if (typeof Worker === "undefined") {
    throw new RandomXError(
      "unsupported",
      "RandomX needs module workers, or Node 20.16, 22.3 or later",
    );
  }
  const worker = script === undefined ? startOwnScript() : startScript(new URL(script));
  worker.onmessage = ({ data }: MessageEvent<From>) => {
    listener.message(data);
  };
  worker.onmessageerror = () => {
    listener.failed("an answer could not be read");
  };
  worker.onerror = (event) => {
    event.preventDefault();
    // An event without a message means that the script never ran.
    const reason = event.message
      ? `${DIED}: ${event.message}`
      : "the worker script could not be loaded";
    listener.failed(reason);
  };
  return {
    post: (message, transfer = []) => {
      worker.postMessage(message, transfer);
    },
    terminate: () => {
      worker.terminate();
      return Promise.resolve();
    },
    keepAlive: () => undefined,
  };
}

/** Bundlers recognise a worker by this literal expression. */
function startOwnScript(): Worker {
  try {
    return new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
  } catch (error) {
    const script = ownScript();
    if (script.origin === location.origin) throw error;
    return startScript(script);
  }
}

/** A page can only start scripts of its own origin, but these can import scripts of another. */
function startScript(script: URL): Worker {
  if (!script.protocol.startsWith("http") || script.origin === location.origin) {
    return new Worker(script, { type: "module" });
  }
  const source = new Blob([`import ${JSON.stringify(script.href)};`], { type: "text/javascript" });
  const address = URL.createObjectURL(source);
  const worker = new Worker(address, { type: "module" });
  for (const event of ["message", "error"]) {
    worker.addEventListener(
      event,
      () => {
        URL.revokeObjectURL(address);
      },
      { once: true },
    );
  }
  return worker;
}

function startInNode<To, From>(
  threads: NodeThreads,
  listener: Listener<From>,
  script: string | undefined,
): Thread<To> {
  const address = script === undefined ? ownScript() : new URL(script);
  const worker = new threads.Worker(address, threadOptions(threads));
  let failure = script === undefined ? NOT_STARTED : DIED;
  worker.on("message", (message) => {
    failure = DIED;
    listener.message(message as From);
  });
  worker.on("messageerror", () => {
    listener.failed("an answer could not be read");
  });
  worker.on("error", (error) => {
    listener.failed(`${failure}: ${error instanceof Error ? error.message : String(error)}`);
  });
  worker.on("exit", () => {
    listener.failed("the worker is gone");
  });
  return {
    post: (message) => {
      worker.postMessage(message);
    },
    terminate: async () => {
      worker.ref();
      await worker.terminate();
    },
    keepAlive: (wanted) => {
      if (wanted) worker.ref();
      else worker.unref();
    },
  };
}

/**
 * Node gives threads its own options, and refuses to run a file with `--input-type`, which is for programs in text.
 * The environment is shared, because Deno needs a permission to copy it.
 */
function threadOptions({ SHARE_ENV: env }: NodeThreads): NodeWorkerOptions {
  const { process } = globalThis as { process?: { execArgv?: readonly string[] } };
  const isText = process?.execArgv?.some((option) => option.startsWith("--input-type"));
  return isText ? { env, execArgv: [] } : { env };
}

/** For use without a bundler. In this form bundlers do not insert a path of the build machine. */
function ownScript(): URL {
  try {
    return new URL(import.meta.resolve("./worker.js"));
  } catch (cause) {
    throw new RandomXError("worker-failed", NOT_STARTED, { cause });
  }
}
