/**
 * Garbage collection of used code, of cache memories and of answers. Engines ignore these
 * when they schedule collections: hundreds of MiB can wait while a worker looks idle. A large throwaway
 * buffer, or outside V8 a WebAssembly memory, forces a collection.
 */
import { isJavaScriptCore, isSpiderMonkey } from "./environment.js";

/** Hashes between two collections. The eight modules of each hash take several MiB in all. */
const HASHES = 8;

/** Bytes of external memory that make the engine collect. The package never writes to them. */
const BUFFER = 64 << 20;

const WASM_PAGE = 64 << 10;

/**
 * JavaScriptCore and SpiderMonkey zero an `ArrayBuffer` that reuses memory, which makes all of it resident. They map
 * fresh pages for a WebAssembly memory. V8 does not count those as garbage.
 */
const ZEROES_BUFFERS = isJavaScriptCore() || isSpiderMonkey();

/** Counts the hashes whose generated code is garbage. */
export class CodeGarbage {
  #hashes = 0;

  /** Adds the code of some hashes, and collects if it is time. */
  add(hashes: number): void {
    this.#hashes += hashes;
    if (this.#hashes < HASHES) return;
    this.#hashes = 0;
    collect();
  }
}

/**
 * Bytes of answers between two collections. Each byte passes through two buffers of the system, which
 * V8 would let wait up to 64 MiB. In Node with 500 MB of other objects, a collection takes turns of at
 * most 25 ms.
 */
const RECEIVED = 1 << 20;

let received = 0;

/** Adds bytes of an answer whose buffers are garbage, and collects if it is time. */
export function addReceived(bytes: number): void {
  received += bytes;
  if (received < RECEIVED) return;
  received = 0;
  collect();
}

/** Makes the engine collect its garbage. */
export function collect(): void {
  try {
    // `Reflect`, because minifiers remove a `new` whose result is unused.
    if (ZEROES_BUFFERS) Reflect.construct(WebAssembly.Memory, [{ initial: BUFFER / WASM_PAGE }]);
    else Reflect.construct(ArrayBuffer, [BUFFER]);
  } catch {
    // So little memory is left that the engine collects without help.
  }
}
