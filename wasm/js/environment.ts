/**
 * Differences between browsers and Node, on both sides of a worker. No module of Node is imported,
 * because bundlers would follow the import into programs for browsers.
 */

/** Listens to the client, inside a worker. Returns the function that sends answers. */
export function serve(listener: (message: never) => void): (message: unknown) => void {
  const port = nodeModule("worker_threads")?.parentPort;
  if (port) {
    port.on("message", listener as (value: unknown) => void);
    return (message) => {
      port.postMessage(message);
    };
  }
  // Bundlers may let a later part of the worker import from its first script. WebKit then evaluates that
  // script a second time. The first listener has the worker's state.
  self.onmessage ??= ({ data }: MessageEvent) => {
    listener(data as never);
  };
  return (message) => {
    self.postMessage(message);
  };
}

/** Compiles the WebAssembly at an address, while it downloads if the server sends its type. */
export async function compile(address: URL): Promise<WebAssembly.Module> {
  const files = address.protocol === "file:" && nodeModule("fs");
  if (files) return WebAssembly.compile(await files.promises.readFile(address));
  const response = await fetch(address);
  if (!response.ok) throw new Error(`${response.status} ${response.statusText}`);
  // Engines refuse the type with parameters.
  return response.headers.get("Content-Type") === "application/wasm"
    ? WebAssembly.compileStreaming(response)
    : WebAssembly.compile(await response.arrayBuffer());
}

/** Returns whether threads can share memory. */
export function canShareMemory(): boolean {
  // Pages that are not isolated can allocate such memory but not post it. Node has no isolation.
  return (globalThis as { crossOriginIsolated?: boolean }).crossOriginIsolated !== false;
}

/** Returns the number of processors, or 1 if it is not known. */
export function processors(): number {
  const { navigator } = globalThis as { navigator?: Partial<Navigator> };
  const os = nodeModule("os");
  return navigator?.hardwareConcurrency ?? os?.availableParallelism() ?? 1;
}

/** Returns the browser's locks, which only secure contexts have. Node reports dead threads itself. */
export function lockManager(): LockManager | undefined {
  if (typeof Worker === "undefined" || nodeThreads()) return undefined;
  return (navigator as Partial<Navigator>).locks;
}

/**
 * Returns Node's threads in Node, and also in Deno and Bun, whose own workers keep a process alive.
 * Not in Electron's pages, where Node's threads do not work.
 */
export function nodeThreads(): NodeThreads | undefined {
  const isPage = typeof Worker !== "undefined" && typeof document !== "undefined";
  return isPage ? undefined : nodeModule("worker_threads");
}

/** Returns whether the engine is JavaScriptCore (Safari, WebKitGTK, Bun). Only its errors have a property `line`. */
export function isJavaScriptCore(): boolean {
  return "line" in new Error();
}

/** Returns whether the engine is SpiderMonkey (Firefox). Only its errors have a property `fileName`. */
export function isSpiderMonkey(): boolean {
  return "fileName" in new Error();
}

/** The part of Node's `worker_threads` that is used. */
export interface NodeThreads {
  Worker: new (script: URL, options: NodeWorkerOptions) => NodeWorker;
  SHARE_ENV: symbol;
  parentPort: NodePort | null;
}

/** The options of Node's threads that are used. */
export interface NodeWorkerOptions {
  env: symbol;
  execArgv?: string[];
}

/** A port to another thread. */
export interface NodePort {
  on: (event: string, listener: (value: unknown) => void) => void;
  postMessage: (message: unknown) => void;
}

/** A thread in Node. */
export interface NodeWorker extends NodePort {
  terminate: () => Promise<number>;
  ref: () => void;
  unref: () => void;
}

/** The built-in modules of Node that are used. */
interface NodeModules {
  fs: typeof import("node:fs");
  module: typeof import("node:module");
  os: typeof import("node:os");
  path: typeof import("node:path");
  url: typeof import("node:url");
  worker_threads: NodeThreads;
}

/** Returns a built-in module of Node, if there is one. */
export function nodeModule<N extends keyof NodeModules>(name: N): NodeModules[N] | undefined {
  const { process } = globalThis as {
    process?: { getBuiltinModule?: (name: string) => unknown };
  };
  return process?.getBuiltinModule?.(`node:${name}`) as NodeModules[N] | undefined;
}
