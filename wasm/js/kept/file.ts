/**
 * The last key's cache in a file of the browser's origin private file system, so that a later visit
 * reads it instead of filling it. Only workers have the handles that are used here. A handle locks the
 * file, so no two workers use it at once.
 *
 * The file begins with a header, in a page of its own: 16 bytes that name the format, the SHA-256 hash of
 * the key, and a checksum of the cache, which follows. The header is written last. Without it the file is
 * not complete, and nobody reads it.
 */
import { Checksum } from "./checksum.js";
import { cacheFile } from "./storage.js";

/** The first bytes of the file. */
const FORMAT = new TextEncoder().encode("randomx-cache 1\n");

const HASH_SIZE = 32;
const HEADER_SIZE = FORMAT.length + HASH_SIZE + Checksum.SIZE;

/** The place of the cache in the file: the second page. */
const START = 4096;
const CACHE_SIZE = 1 << 28;

/** Bytes that are read or written in one turn of the thread: some 10 ms. */
const TURN = 1 << 23;

/** The storage that the browser must still allow before 256 MiB of it are taken. */
const ROOM = 4 * CACHE_SIZE;

/** The synchronous handle of a file (File System standard), as far as it is used. */
interface Handle {
  read: (into: Uint8Array, options: { at: number }) => number;
  write: (from: Uint8Array, options: { at: number }) => number;
  truncate: (size: number) => void;
  flush: () => void;
  close: () => void;
}

/** Reads a key's cache from the file. */
export class KeptReader {
  readonly #handle: Handle;
  readonly #checksum: Uint8Array;

  private constructor(handle: Handle, checksum: Uint8Array) {
    this.#handle = handle;
    this.#checksum = checksum;
  }

  /**
   * Opens the file, if it holds the key's cache. Otherwise, or if another worker uses it or the browser
   * refuses access, there is no reader.
   */
  static async open(key: Uint8Array): Promise<KeptReader | undefined> {
    let handle: Handle | undefined;
    try {
      handle = await open(false);
      const identity = await identityOf(key);
      const header = new Uint8Array(HEADER_SIZE);
      const size = handle.read(header, { at: 0 });
      if (size === HEADER_SIZE && startsWith(header, identity)) {
        return new KeptReader(handle, header.subarray(identity.length));
      }
    } catch {
      // As if there were no file.
    }
    handle?.close();
    return undefined;
  }

  /** Reads the cache. Returns whether that is done. If not, the memory may hold anything. */
  async read(
    memory: WebAssembly.Memory,
    signal: AbortSignal,
    pause: () => Promise<void>,
  ): Promise<boolean> {
    try {
      const checksum = new Checksum();
      for (let at = 0; at < CACHE_SIZE; at += TURN) {
        const part = new Uint8Array(memory.buffer, at, TURN);
        if (this.#handle.read(part, { at: START + at }) !== TURN) return false;
        checksum.add(part);
        await pause();
        if (signal.aborted) return false;
      }
      return startsWith(checksum.bytes(), this.#checksum);
    } catch {
      return false;
    }
  }

  /** Closes the file. */
  close(): void {
    this.#handle.close();
  }
}

/** Writes a key's cache to the file, in place of the last one. */
export class KeptWriter {
  readonly #handle: Handle;
  readonly #identity: Uint8Array;
  readonly #checksum = new Checksum();
  #at = 0;

  private constructor(handle: Handle, identity: Uint8Array) {
    this.#handle = handle;
    this.#identity = identity;
  }

  /** Begins with an empty file. Rejects where the browser allows none or has no room. */
  static async begin(key: Uint8Array): Promise<KeptWriter> {
    const { quota = 0, usage = 0 } = await navigator.storage.estimate();
    if (quota - usage < ROOM) throw new Error("the browser's storage has no room for a cache");
    const identity = await identityOf(key);
    const handle = await open(true);
    try {
      handle.truncate(0);
      handle.flush();
    } catch (error) {
      handle.close();
      throw error;
    }
    return new KeptWriter(handle, identity);
  }

  /** Writes some more of the cache. Returns the part that is written, 0 to 1. The file is complete and closed then. */
  write(memory: WebAssembly.Memory): number {
    const part = new Uint8Array(memory.buffer, this.#at, TURN);
    this.#put(part, START + this.#at);
    this.#checksum.add(part);
    this.#at += TURN;
    if (this.#at === CACHE_SIZE) {
      // All of the cache is on the disk before the header says so.
      this.#handle.flush();
      this.#put(this.#identity, 0);
      this.#put(this.#checksum.bytes(), this.#identity.length);
      this.#handle.flush();
      this.#handle.close();
    }
    return this.#at / CACHE_SIZE;
  }

  /** Gives up: frees the storage and closes the file. */
  abandon(): void {
    try {
      this.#handle.truncate(0);
    } catch {
      // Without its header the file is not read.
    } finally {
      this.#handle.close();
    }
  }

  #put(bytes: Uint8Array, at: number): void {
    if (this.#handle.write(bytes, { at }) !== bytes.length) {
      throw new Error("the browser's storage is full");
    }
  }
}

async function open(create: boolean): Promise<Handle> {
  const file = await cacheFile(create);
  const { createSyncAccessHandle } = file as { createSyncAccessHandle?: () => Promise<Handle> };
  if (!createSyncAccessHandle) throw new Error("the browser has no synchronous access to files");
  return createSyncAccessHandle.call(file);
}

/** Returns the header up to the checksum. */
async function identityOf(key: Uint8Array): Promise<Uint8Array> {
  const hash = await crypto.subtle.digest("SHA-256", Uint8Array.from(key));
  const identity = new Uint8Array(FORMAT.length + HASH_SIZE);
  identity.set(FORMAT);
  identity.set(new Uint8Array(hash), FORMAT.length);
  return identity;
}

function startsWith(bytes: Uint8Array, start: Uint8Array): boolean {
  return start.every((byte, at) => byte === bytes[at]);
}
