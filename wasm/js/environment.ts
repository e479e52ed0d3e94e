/**
 * What browsers and Node do in different ways, on either side of a worker. Nothing is imported
 * for Node: bundlers would follow it into programs for browsers.
 */
import type { FromWorker, ToWorker } from "./protocol.js";

/** Inside a worker: serves what the client says, and returns how to answer it. */
export function serve(listener: (message: ToWorker) => void): (message: FromWorker) => void {
  const port = nodeModule("worker_threads")?.parentPort;
  if (port) {
    port.on("message", listener as (value: unknown) => void);
    return (message) => {
      port.postMessage(message);
    };
  }
  self.onmessage = ({ data }: MessageEvent<ToWorker>) => {
    listener(data);
  };
  return (message) => {
    self.postMessage(message);
  };
}

/** Compiles the WebAssembly at an address while it arrives, where the server lets it. */
export async function compile(address: URL): Promise<WebAssembly.Module> {
  const files = address.protocol === "file:" && nodeModule("fs");
  if (files) return WebAssembly.compile(await files.promises.readFile(address));
  const response = await fetch(address);
  if (!response.ok) throw new Error(`${response.status} ${response.statusText}`);
  return response.headers.get("Content-Type")?.startsWith("application/wasm")
    ? WebAssembly.compileStreaming(response)
    : WebAssembly.compile(await response.arrayBuffer());
}

/** Whether threads can be handed memory that they share. */
export function canShareMemory(): boolean {
  // Pages that are not isolated can make such memory and cannot post it. Node knows no isolation.
  return (globalThis as { crossOriginIsolated?: boolean }).crossOriginIsolated !== false;
}

/** Processors of this machine, as far as it tells. */
export function processors(): number {
  const { navigator } = globalThis as { navigator?: Partial<Navigator> };
  const os = nodeModule("os");
  return navigator?.hardwareConcurrency ?? os?.availableParallelism() ?? 1;
}

/** The browser's locks, which only secure contexts have. Node tells itself that a thread is gone. */
export function lockManager(): LockManager | undefined {
  if (typeof Worker === "undefined" || nodeThreads()) return undefined;
  return (navigator as Partial<Navigator>).locks;
}

/**
 * Node's threads, where they are the better ones: in Node, and in Deno and Bun, whose own workers
 * keep a process alive. Not in Electron's pages, where they do not work.
 */
export function nodeThreads(): NodeThreads | undefined {
  const isPage = typeof Worker !== "undefined" && typeof document !== "undefined";
  return isPage ? undefined : nodeModule("worker_threads");
}

/** What Node's `worker_threads` has of use here. */
export interface NodeThreads {
  Worker: new (script: URL) => NodeWorker;
  parentPort: NodePort | null;
}

/** A port to another thread. */
export interface NodePort {
  on: (event: string, listener: (value: unknown) => void) => void;
  postMessage: (message: unknown) => void;
}

/** A thread of Node's. */
export interface NodeWorker extends NodePort {
  terminate: () => Promise<number>;
  ref: () => void;
  unref: () => void;
}

/** The modules of Node's own that are made use of. */
interface NodeModules {
  fs: typeof import("node:fs");
  os: typeof import("node:os");
  worker_threads: NodeThreads;
}

/** A module of Node's own, in Node. */
export function nodeModule<N extends keyof NodeModules>(name: N): NodeModules[N] | undefined {
  const { process } = globalThis as {
    process?: { getBuiltinModule?: (name: string) => unknown };
  };
  return process?.getBuiltinModule?.(`node:${name}`) as NodeModules[N] | undefined;
}
