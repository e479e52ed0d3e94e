/**
 * The workers that the package starts, behind its back: the tests end some of them, and have
 * others watched from inside.
 */
import spyScript from "./spy.ts?worker&url";
import type { Report, ToSpy } from "./spy.js";

const NativeWorker = window.Worker;

/** Workers that have been started and not ended. */
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

/** How many workers there are. */
export function liveWorkers(): number {
  return live.size;
}

/** Ends a worker as a browser does that is short of memory: the package is not told. */
export function kill(which: number): void {
  const worker = [...live][which];
  if (!worker) throw new Error(`there is no worker ${which}`);
  worker.terminate();
}

/** Ends the next worker that is asked to do something, after it had some time for it. */
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

/** Has every worker that starts from now on watched from inside. */
export function spyOnWorkers(): void {
  spying = true;
}

/** What the workers that live have done; they must be watched, and at rest. */
export function reports(): Promise<Report[]> {
  return ask({ ask: "report" });
}

/** Has watched workers, which must have started, refuse memory of the size of a cache, or no more. */
export async function refuseMemory(refuse: boolean): Promise<void> {
  await ask({ ask: "refuse", refuse });
}

/** Resolves when every worker has heard the message. */
async function ask(message: ToSpy): Promise<Report[]> {
  const channel = new BroadcastChannel("spy");
  try {
    return await new Promise<Report[]>((resolve) => {
      const heard: Report[] = [];
      channel.onmessage = ({ data }: MessageEvent<Report | ToSpy>) => {
        if (!("modules" in data)) return;
        heard.push(data);
        if (heard.length === live.size) resolve(heard);
      };
      channel.postMessage(message);
    });
  } finally {
    channel.close();
  }
}
