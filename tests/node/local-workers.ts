/** Workers in the thread of the test, which sees what they are asked for and what they hold. */
import { unpacked } from "../../wasm/js/inputs.js";
import type { Args, Operation, Request, ToWorker } from "../../wasm/js/protocol.js";
import type { WorkerSession } from "../../wasm/js/session.js";
import { control } from "./support.js";

/** An operation, and its result once there is one. */
export interface Performed {
  operation: Operation;
  result?: unknown;
}

/** Makes the package start such workers from now on, each with a session. Returns what they perform, in order. */
export function useLocalWorkers(open: () => WorkerSession): Performed[] {
  const performed: Performed[] = [];
  // The package reads this object. An import would be a copy of its fields.
  const module = process.getBuiltinModule("node:worker_threads") as { Worker: unknown };
  module.Worker = class {
    readonly #session = open();
    #answered = Promise.resolve();
    #listener: (message: unknown) => void = () => undefined;

    on(event: string, listener: (message: unknown) => void): void {
      if (event === "message") this.#listener = listener;
    }

    postMessage(message: ToWorker): void {
      if (message.type === "abort") return;
      this.#answered = this.#answered.then(async () => {
        const entry: Performed = { operation: message.operation };
        performed.push(entry);
        entry.result = await perform(this.#session, message);
        this.#listener({ type: "result", result: entry.result });
      });
    }

    ref(): void {
      // The test's own thread.
    }

    unref(): void {
      // The test's own thread.
    }

    terminate(): Promise<number> {
      return Promise.resolve(0);
    }
  };
  return performed;
}

/** How each of them has started. */
const STARTED = {
  held: false,
  module: undefined,
  features: { fusedMultiplyAdd: false, wideArithmetic: false, sharedMemory: true },
  engines: ["jit"],
  notNative: undefined,
  implementations: undefined,
};

function perform(session: WorkerSession, { operation, args }: Request): unknown {
  switch (operation) {
    case "start":
      return STARTED;
    case "allocate":
      return session.allocate(args);
    case "fill":
      return session.fill(args, control());
    case "keep":
      return session.keep?.(args, new AbortController().signal);
    case "attach":
      return session.attach(args);
    case "release":
      return session.release(args);
    case "hash":
      return hash(session, args);
    default:
      throw new Error(`no test needs ${operation}`);
  }
}

function hash(session: WorkerSession, args: Args<"hash">): unknown {
  const hashes = session.hash({ ...args, inputs: unpacked(args.inputs) });
  return { hashes, unreadable: [], mode: "light", milliseconds: NaN };
}
