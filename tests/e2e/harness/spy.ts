/**
 * Runs the package's worker, and watches which WebAssembly modules it compiles. They prove which
 * engine ran; the hashes do not, since they are the same with every engine.
 */
import type { Args } from "../../../wasm/js/protocol.js";

/** A message from the page to all watched workers. */
export type ToSpy = { ask: "report" } | { ask: "refuse"; refuse: boolean };

/** The report of a worker. */
export interface Report {
  /** Compiled modules by kind. */
  modules: {
    /** Modules with the code of one program. */
    programs: number;
    /** Programs that multiply and add in one instruction, and those with 128-bit products. */
    fused: number;
    wide: number;
    /** SuperscalarHash, the bridge to it, and the filling of a cache. */
    items: number;
    bridges: number;
    fills: number;
  };
  /** Whether each memory of a cache's size is shared. */
  caches: boolean[];
  /** The most inputs in one request. */
  together: number;
  /** Inputs of all requests. */
  inputs: number;
}

/** WebAssembly pages of a cache, which is 256 MiB. */
const CACHE_PAGES = 4096;

const report: Report = {
  modules: { programs: 0, fused: 0, wide: 0, items: 0, bridges: 0, fills: 0 },
  caches: [],
  together: 0,
  inputs: 0,
};
let refuse = false;

WebAssembly.Module = new Proxy(WebAssembly.Module, {
  construct(Native, [source]: [BufferSource]) {
    const module = new Native(source);
    count(module, bytesOf(source));
    return module;
  },
});

WebAssembly.Memory = new Proxy(WebAssembly.Memory, {
  construct(Native, [type]: [WebAssembly.MemoryDescriptor]) {
    if (type.initial >= CACHE_PAGES) {
      if (refuse) throw new RangeError("WebAssembly.Memory(): could not allocate memory");
      report.caches.push(type.shared ?? false);
    }
    return new Native(type);
  },
});

function count(module: WebAssembly.Module, bytes: Uint8Array): void {
  const { modules } = report;
  const names = WebAssembly.Module.exports(module).map(({ name }) => name);
  const imports = WebAssembly.Module.imports(module).map(({ name }) => name);
  if (names.includes("run")) {
    modules.programs += 1;
    // f64x2.relaxed_madd and relaxed_nmadd; i64.mul_wide_s and mul_wide_u. Constants can contain the
    // same bytes, so tests expect a share of all programs instead of an exact number.
    if (has(bytes, [0xfd, 0x87, 0x02]) || has(bytes, [0xfd, 0x88, 0x02])) modules.fused += 1;
    if (has(bytes, [0xfc, 0x15]) || has(bytes, [0xfc, 0x16])) modules.wide += 1;
  }
  if (names.includes("compute") && names.includes("item")) modules.items += 1;
  if (names.includes("items") && imports.includes("compute")) modules.bridges += 1;
  if (names.includes("fill")) modules.fills += 1;
}

function has(bytes: Uint8Array, pattern: readonly [number, ...number[]]): boolean {
  for (let at = bytes.indexOf(pattern[0]); at >= 0; at = bytes.indexOf(pattern[0], at + 1)) {
    if (pattern.every((byte, index) => bytes[at + index] === byte)) return true;
  }
  return false;
}

function bytesOf(source: BufferSource): Uint8Array {
  return ArrayBuffer.isView(source)
    ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength)
    : new Uint8Array(source);
}

const channel = new BroadcastChannel("spy");
channel.onmessage = ({ data }: MessageEvent<ToSpy | Report>) => {
  if (!("ask" in data)) return;
  if (data.ask === "refuse") refuse = data.refuse;
  channel.postMessage(report);
};

// Keeps messages that arrive before the worker's own script listens.
const early: unknown[] = [];
let isLoaded = false;
self.addEventListener("message", ({ data }: MessageEvent) => {
  const { operation, args } = data as { operation?: string; args?: Partial<Args<"hash">> };
  if (operation === "hash") {
    const inputs = args?.inputs?.lengths.length ?? 0;
    report.inputs += inputs;
    report.together = Math.max(report.together, inputs);
  }
  if (!isLoaded) early.push(data);
});

const script = new URL(self.location.href).searchParams.get("run") ?? "missing";
void import(/* @vite-ignore */ script).then(() => {
  isLoaded = true;
  for (const data of early) self.dispatchEvent(new MessageEvent("message", { data }));
});
