/**
 * The last key's cache in a file of the browser's origin private file system, so that a later visit
 * reads it instead of filling it. Only workers have the handles that are used here. While one worker writes
 * the file, no other uses it. Several may read it at once, in browsers that have such handles.
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

/** Bytes that are read or written in one turn of the thread. */
const TURN = 1 << 23;

/** Free quota that writing requires. */
const ROOM = 4 * CACHE_SIZE;

/** The synchronous handle of a file (File System standard), as far as it is used. */
interface Handle {
  read: (into: Uint8Array, options: { at: number }) => number;
  write: (from: Uint8Array, options: { at: number }) => number;
  truncate: (size: number) => void;
  flush: () => void;
  getSize: () => number;
  close: () => void;
}

/** Reads a key's cache from the file. */
export class KeptReader {
  readonly #handle: Handle;
  readonly #checksum: Uint8Array;
  #isWhole = true;

  private constructor(handle: Handle, checksum: Uint8Array) {
    this.#handle = handle;
    this.#checksum = checksum;
  }

  /**
   * Opens the file, if it holds the key's cache. Otherwise, or if another worker has locked it or the browser
   * refuses access, there is no reader.
   */
  static async open(key: Uint8Array): Promise<KeptReader | undefined> {
    let handle: Handle | undefined;
    try {
      handle = await open("read-only");
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

  /**
   * Reads the cache. Returns whether that is done. If not, the memory may hold anything, and the file is
   * damaged, unless `signal` has stopped it.
   */
  async read(
    memory: WebAssembly.Memory,
    signal: AbortSignal,
    pause: () => Promise<void>,
  ): Promise<boolean> {
    const checksum = new Checksum();
    try {
      for (let at = 0; at < CACHE_SIZE; at += TURN) {
        const part = new Uint8Array(memory.buffer, at, TURN);
        const size = this.#handle.read(part, { at: START + at });
        if (size !== TURN) throw new Error("the file is too short");
        checksum.add(part);
        await pause();
        if (signal.aborted) return false;
      }
      this.#isWhole = startsWith(checksum.bytes(), this.#checksum);
    } catch {
      this.#isWhole = false;
    }
    return this.#isWhole;
  }

  /** Closes the file. A damaged one is emptied, by the last of its readers. */
  async close(): Promise<void> {
    this.#handle.close();
    if (this.#isWhole) return;
    try {
      close(await open("readwrite"), false);
    } catch {
      // Another worker reads it, and finds the damage too, or writes it anew.
    }
  }
}

/** How writing a cache ended. After `stopped` it may be tried again. */
export type Written = "kept" | "stopped" | "impossible";

/**
 * Writes a key's cache to the file, in place of the last one, in turns of the thread. If that is stopped, or
 * there is no room, the file is empty afterwards. Without access, or while another worker uses the file, it stays
 * as it is. A fresh cache replaces one of its key too, which may be wrong, and can wait until the file is not used.
 */
export async function writeKept(
  key: Uint8Array,
  memory: WebAssembly.Memory,
  signal: AbortSignal,
  pause: () => Promise<void>,
  isFresh = false,
): Promise<Written> {
  let handle: Handle | undefined;
  let result: Written = "impossible";
  try {
    const identity = await identityOf(key);
    handle = await open("readwrite");
    // Another page may have written it meanwhile.
    const header = new Uint8Array(HEADER_SIZE);
    const size = isFresh ? 0 : handle.read(header, { at: 0 });
    if (size === HEADER_SIZE && startsWith(header, identity)) return (result = "kept");
    const { quota = 0, usage = 0 } = await navigator.storage.estimate();
    if (quota - (usage - handle.getSize()) < ROOM) return result;
    handle.truncate(0);
    const checksum = new Checksum();
    for (let at = 0; at < CACHE_SIZE; at += TURN) {
      const part = new Uint8Array(memory.buffer, at, TURN);
      put(handle, part, START + at);
      // Part by part: all at once would block the thread for as long as the disk needs.
      handle.flush();
      checksum.add(part);
      await pause();
      if (signal.aborted) return (result = "stopped");
    }
    header.set(identity);
    header.set(checksum.bytes(), identity.length);
    put(handle, header, 0);
    handle.flush();
    result = "kept";
  } catch (error) {
    // There is no room or no access, or another worker uses the file.
    if (isFresh && (error as Error).name === "NoModificationAllowedError") result = "stopped";
  } finally {
    if (handle) close(handle, result === "kept");
  }
  return result;
}

function put(handle: Handle, bytes: Uint8Array, at: number): void {
  if (handle.write(bytes, { at }) !== bytes.length) throw new Error("the storage is full");
}

/** Closes a file, and empties it before that if it is not whole. */
function close(handle: Handle, isWhole: boolean): void {
  try {
    if (!isWhole) handle.truncate(0);
  } catch {
    // Without its header the file is not read.
  } finally {
    handle.close();
  }
}

/**
 * The mode of a handle. Browsers that do not know the option lock the file in either mode.
 * <https://developer.mozilla.org/en-US/docs/Web/API/FileSystemFileHandle/createSyncAccessHandle>
 */
type Mode = "read-only" | "readwrite";

/** Opens the file. To write, it is created if it does not exist. */
async function open(mode: Mode): Promise<Handle> {
  const file = await cacheFile(mode === "readwrite");
  const { createSyncAccessHandle } = file as {
    createSyncAccessHandle?: (options: { mode: Mode }) => Promise<Handle>;
  };
  if (!createSyncAccessHandle) throw new Error("the browser has no synchronous access to files");
  return createSyncAccessHandle.call(file, { mode });
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
