/** What the tests share: the real module, sessions over it, and the vectors. */
import { readFileSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { hexToBytes } from "@noble/hashes/utils.js";
import { Session, type Control } from "../../wasm/js/session.js";
import * as wasm from "../../wasm/pkg/randomx_wasm.js";

const root = new URL("../../", import.meta.url);

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

/** Loads the module once; the memory tells how much it has taken. */
export function loadWasm(): { wasm: typeof wasm; memory: WebAssembly.Memory } {
  const module = readFileSync(new URL("wasm/pkg/randomx_wasm_bg.wasm", root));
  const { memory } = wasm.initSync({ module });
  return { wasm, memory };
}

/** A session over the loaded module, which gives way as Node does. */
export function openSession(): Session {
  return new Session(loadWasm().wasm, () => setImmediate());
}

/** Follows nothing and never aborts, but for what is given. */
export function control(given: Partial<Control> = {}): Control {
  return { signal: new AbortController().signal, onProgress: () => undefined, ...given };
}

/** Bytes of hex. */
export function bytes(hex: string): Uint8Array {
  return hexToBytes(hex);
}

/** Bytes of text. */
export function text(characters: string): Uint8Array {
  return new TextEncoder().encode(characters);
}
