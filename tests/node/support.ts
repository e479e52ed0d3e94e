/** What the tests share: the package in Node's threads, its workers, and the vectors. */
import { readFileSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import type * as threads from "node:worker_threads";
import { hexToBytes } from "@noble/hashes/utils.js";
import type * as product from "../../wasm/js/index.js";
import { Session, type Control } from "../../wasm/js/session.js";
import * as wasm from "../../wasm/pkg/randomx_wasm.js";

const root = new URL("../../", import.meta.url);

/** The package as `build.ts` compiled it: its worker's script must be a file that Node can run. */
export const { RandomX, RandomXError } = (await import(
  new URL("wasm/dist/js/index.js", root).href
)) as typeof product;

/** A reference vector: bytes in hex. */
export interface HashVector {
  version: 1 | 2;
  key: string;
  input: string;
  hash: string;
}

/** A mainnet block, or a share of one; some facts are known of some only. */
export interface Block {
  height: number;
  hashing_blob: string;
  pow_hash: string;
  seed_hash?: string;
  seed_height?: number;
  difficulty?: string;
  share_difficulty?: number;
}

/** The text of a file of the repository. */
export function readText(path: string): string {
  return readFileSync(new URL(path, root), "utf8");
}

/** A vector file, by its name without extension. */
export function readVectors(name: string): unknown {
  return JSON.parse(readText(`tests/vectors/${name}.json`));
}

/** Loads the module once; its memory and its table of functions tell how much it has taken. */
export function loadWasm(): {
  wasm: typeof wasm;
  memory: WebAssembly.Memory;
  table: WebAssembly.Table;
} {
  const module = readFileSync(new URL("wasm/pkg/randomx_wasm_bg.wasm", root));
  const { memory, __wbindgen_export: table } = wasm.initSync({ module });
  return { wasm, memory, table };
}

/** A session over the loaded module, which gives way as Node does. */
export function openSession(): Session {
  const { wasm } = loadWasm();
  const setting = { lanes: 8, features: wasm.detectFeatures(), place: 1 };
  return new Session(wasm, setting, () => setImmediate());
}

/** Follows nothing and never aborts, but for what is given. */
export function control(given: Partial<Control> = {}): Control {
  return { signal: new AbortController().signal, onProgress: () => undefined, ...given };
}

/** The workers that the package starts from now on, in order; those that are gone stay listed. */
export function watchWorkers(): threads.Worker[] {
  // The object that the package asks Node for, not the copies of its parts that imports are.
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

/** Bytes of hex. */
export function bytes(hex: string): Uint8Array {
  return hexToBytes(hex);
}

/** Bytes of text. */
export function text(characters: string): Uint8Array {
  return new TextEncoder().encode(characters);
}
