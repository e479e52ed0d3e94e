/**
 * Garbage collection of used code, of cache memories and of answers. V8 ignores these
 * when it schedules collections: hundreds of MiB can wait while a worker looks idle. A large throwaway
 * buffer forces a collection.
 */
import { isJavaScriptCore } from "./environment.js";

/** Hashes between two collections. The eight modules of each hash take several MiB in all. */
const HASHES = 8;

/** Bytes of outside memory after which engines collect. They are never written, so they cost nothing. */
const BUFFER = 64 << 20;

const WASM_PAGE = 64 << 10;

/** JavaScriptCore writes zeros into a large buffer wherever it used that memory before. A memory is mapped anew. */
const MAPS_ONLY_MEMORIES = isJavaScriptCore();

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
    if (MAPS_ONLY_MEMORIES)
      Reflect.construct(WebAssembly.Memory, [{ initial: BUFFER / WASM_PAGE }]);
    else Reflect.construct(ArrayBuffer, [BUFFER]);
  } catch {
    // So little memory is left that the engine collects without help.
  }
}
