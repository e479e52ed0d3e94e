/**
 * Runs the package's worker and watches what it does with WebAssembly. That is the proof that a
 * test asks for: results are the same whatever made them, the modules that are compiled are not.
 */

/** What the page says to all watched workers. */
export type ToSpy = { ask: "report" } | { ask: "refuse"; refuse: boolean };

/** What a worker has done. */
export interface Report {
  /** Modules that were compiled, by what they are. */
  modules: {
    /** The code of one program each. */
    programs: number;
    /** Those of them that multiply and add in one instruction, and with products of 128 bits. */
    fused: number;
    wide: number;
    /** SuperscalarHash, the way to it, and the filling of a cache. */
    items: number;
    bridges: number;
    fills: number;
  };
  /** Memory of the size of a cache that was made: whether it is shared. */
  caches: boolean[];
  /** The most inputs that were to be hashed together. */
  together: number;
  /** Inputs that were to be hashed. */
  inputs: number;
}

/** A cache is 256 MiB. */
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
    // f64x2.relaxed_madd and relaxed_nmadd; i64.mul_wide_s and mul_wide_u. Constants can look like
    // them, which is why those who count ask for most programs, not for one.
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

// What arrives before the worker's own script listens would be lost.
const early: unknown[] = [];
let isLoaded = false;
self.addEventListener("message", ({ data }: MessageEvent) => {
  const { operation, args } = data as { operation?: string; args?: { inputs?: unknown[] } };
  if (operation === "hash") {
    const inputs = args?.inputs?.length ?? 0;
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
