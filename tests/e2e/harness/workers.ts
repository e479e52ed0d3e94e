/**
 * Intercepts the workers that the package starts, so that tests can kill some and watch others from
 * inside.
 */
import spyScript from "./spy.ts?worker&url";
import type { Report, ToSpy } from "./spy.js";

const NativeWorker = window.Worker;

/** Workers that have been started and not terminated. */
const live = new Set<Watched>();

let spying = false;
let onPost: ((message: unknown, worker: Watched) => void) | undefined;

class Watched extends NativeWorker {
  constructor(script: URL | string, options?: WorkerOptions) {
    super(spying ? spied(script) : script, options);
    live.add(this);
  }

  override postMessage(message: unknown, transfer?: StructuredSerializeOptions | Transferable[]) {
    super.postMessage(message, transfer as StructuredSerializeOptions);
    onPost?.(message, this);
  }

  override terminate(): void {
    live.delete(this);
    super.terminate();
  }
}

window.Worker = Watched;

function spied(script: URL | string): string {
  const address = new URL(spyScript, location.href);
  address.searchParams.set("run", String(script));
  return address.href;
}

/** Returns the number of live workers. */
export function liveWorkers(): number {
  return live.size;
}

/** Terminates a worker without an event, as a browser does that is short of memory. */
export function kill(which: number): void {
  const worker = [...live][which];
  if (!worker) throw new Error(`kill: expected 0 to ${live.size - 1}, got ${which}`);
  worker.terminate();
}

/** Kills the next worker that starts an operation, some milliseconds after its start. */
export function killAt(operation: string, ms: number): Promise<void> {
  return new Promise((resolve) => {
    onPost = (message, worker) => {
      if ((message as { operation?: string }).operation !== operation) return;
      onPost = undefined;
      setTimeout(() => {
        worker.terminate();
        resolve();
      }, ms);
    };
  });
}

/** Watches every worker that starts from now on. */
export function spyOnWorkers(): void {
  spying = true;
}

/** Returns what each live worker has done. All must be watched and idle. */
export function reports(): Promise<Report[]> {
  return ask({ ask: "report" });
}

/** Makes the watched workers refuse memory of a cache's size, or grant it again. */
export async function refuseMemory(refuse: boolean): Promise<void> {
  await ask({ ask: "refuse", refuse });
}

/** Resolves when every worker has answered. */
async function ask(message: ToSpy): Promise<Report[]> {
  const channel = new BroadcastChannel("spy");
  try {
    return await new Promise<Report[]>((resolve) => {
      const answers: Report[] = [];
      channel.onmessage = ({ data }: MessageEvent<Report | ToSpy>) => {
        if (!("modules" in data)) return;
        answers.push(data);
        if (answers.length === live.size) resolve(answers);
      };
      channel.postMessage(message);
    });
  } finally {
    channel.close();
  }
}
