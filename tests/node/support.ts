/** Helpers of the tests: the package in Node's threads, its workers, and the vectors. */
import { readFileSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import type * as threads from "node:worker_threads";
import { hexToBytes } from "@noble/hashes/utils.js";
import { expect, test, vi } from "vitest";
import type * as product from "../../wasm/js/index.js";
import { Session, type Control } from "../../wasm/js/session.js";
import * as wasm from "../../wasm/pkg/randomx_wasm.js";
import { addonPackage } from "../addon.js";

const root = new URL("../../", import.meta.url);

/** Whether this is a run of the full tests; see `tests/README.md`. */
export const isFull = process.env.RANDOMX_TESTS === "full";

/** Defines a test of the full tier. */
export const fullTest = test.runIf(isFull);

/** Waits until a check passes, which takes a moment, or seconds on a busy machine. */
export function eventually(check: () => void | Promise<void>): Promise<void> {
  return vi.waitFor(check, { timeout: 60_000 });
}

/** The package as `build.ts` compiled it, because the worker's script must be a file for Node. */
const built = (await import(new URL("wasm/dist/js/index.js", root).href)) as typeof product;

/** Other classes of the package. */
export const { RandomXError, ShareTemplate } = built;

/** Whether this system has a native add-on. */
export const hasAddon = addonPackage !== undefined;
if (!hasAddon) console.warn("SKIPPED native: there is no add-on for this system");

/** The file of the native add-on. `cargo xtask test` and `cargo xtask build-addon` build it. */
export const ADDON = new URL("randomx.node", addonPackage?.folder ?? root);

/** Options for the native add-on. */
export const NATIVE = { engine: "native", nativeUrl: ADDON } as const;

const native = withDefaults(built.RandomX, NATIVE);

/** Whether the environment has `RANDOMX_ENGINE=native`: native code hashes unless a test says what does. */
export const isNative = process.env.RANDOMX_ENGINE === "native";

/** The package. See {@link isNative}. */
export const RandomX = isNative ? native : built.RandomX;

/**
 * The package, for tests in which hashing is only a means. The quick tier takes native code, which is
 * faster; the full tier runs them with each engine.
 */
export const AnyRandomX = isNative || (!isFull && hasAddon) ? native : built.RandomX;

function withDefaults(
  RandomX: typeof product.RandomX,
  defaults: product.CreateOptions,
): typeof product.RandomX {
  const merged = (options?: product.CreateOptions): typeof options => {
    try {
      return { ...defaults, ...options };
    } catch {
      // The package has to refuse what cannot be read.
      return options;
    }
  };
  return new Proxy(RandomX, {
    get: (target, name) =>
      name === "create"
        ? (options?: product.CreateOptions) => target.create(merged(options))
        : (Reflect.get(target, name) as unknown),
  });
}

/** Names and options for tests of every engine: WebAssembly and native code. */
export const ENGINES: readonly (readonly [string, product.CreateOptions])[] = [
  ["WebAssembly", { engine: "auto", nativeUrl: undefined }],
  ...(hasAddon ? [["native", NATIVE] as const] : []),
];

/** A reference vector: bytes in hex. */
export interface HashVector {
  version: 1 | 2;
  key: string;
  input: string;
  hash: string;
}

/** A mainnet block or a share. Some fields are known for some of them only. */
export interface Block {
  height: number;
  hashing_blob: string;
  pow_hash: string;
  seed_hash?: string;
  seed_height?: number;
  difficulty?: string;
  share_difficulty?: number;
}

/** Reads a text file of the repository. */
export function readText(path: string): string {
  return readFileSync(new URL(path, root), "utf8");
}

/** Reads a vector file, by its name without extension. */
export function readVectors(name: string): unknown {
  return JSON.parse(readText(`tests/vectors/${name}.json`));
}

/** Loads the module. Its memory and its table of functions show how much it uses. */
export function loadWasm(): {
  wasm: typeof wasm;
  memory: WebAssembly.Memory;
  table: WebAssembly.Table;
} {
  const module = readFileSync(new URL("wasm/pkg/randomx_wasm_bg.wasm", root));
  const { memory, __wbindgen_export: table } = wasm.initSync({ module });
  return { wasm, memory, table };
}

/** Opens a session with the loaded module. It pauses with Node's `setImmediate`. */
export function openSession(): Session {
  const { wasm } = loadWasm();
  const setting = { lanes: 8, features: wasm.detectFeatures(), place: 1 };
  return new Session(wasm, setting, () => setImmediate());
}

/** Returns the control of a fill that ignores progress and never aborts, with overrides. */
export function control(given: Partial<Control> = {}): Control {
  return { signal: new AbortController().signal, onProgress: () => undefined, ...given };
}

/** Prepares a key, and expects that an abort ends it once more than a part is done. */
export async function abortFill(
  randomx: product.RandomX,
  key: Uint8Array,
  part = 0.1,
): Promise<void> {
  const abort = new AbortController();
  const onProgress = ({ done }: product.Progress): void => {
    if (done > part) abort.abort();
  };
  const preparing = randomx.prepare(key, { signal: abort.signal, onProgress });
  await expect(preparing).rejects.toMatchObject({ code: "aborted" });
}

/** Returns the MiB of this process's address space, touched or not. Linux only. */
export function addressSpace(): number {
  const [, kib] = /^VmSize:\s+(\d+) kB$/mu.exec(readFileSync("/proc/self/status", "utf8")) ?? [];
  return Number(kib) / 1024;
}

/** Lists the workers that the package starts from now on, in order. Ended workers stay listed. */
export function watchWorkers(): threads.Worker[] {
  // The package reads this object. An import would be a copy of its fields.
  const module = process.getBuiltinModule("node:worker_threads") as {
    Worker: typeof threads.Worker;
  };
  const workers: threads.Worker[] = [];
  module.Worker = class extends module.Worker {
    constructor(...args: ConstructorParameters<typeof threads.Worker>) {
      super(...args);
      workers.push(this);
    }
  };
  return workers;
}

/** Returns the bytes of a hex string. */
export function bytes(hex: string): Uint8Array {
  return hexToBytes(hex);
}

/** Returns the bytes of a text. */
export function text(characters: string): Uint8Array {
  return new TextEncoder().encode(characters);
}
