/** Where a client's state is kept: in memory, in a browser's database, or in a file. */
import { nodeModule } from "../environment.js";
import { RandomXError } from "../errors.js";
import { MAX_STATE } from "../sizes.js";

/**
 * Keeps the state of one client, some 200 KB, and at most 16 MiB. A wallet can bring its own. Anyone
 * who can change the state chooses the chain.
 */
export interface Store {
  /** Returns the bytes that were saved last, or `undefined` if there are none. */
  load(): Promise<Uint8Array | undefined>;
  /** Replaces the bytes as a whole: after a crash, the old or the new ones are there. */
  save(bytes: Uint8Array): Promise<void>;
}

/** A store in memory. */
export class MemoryStore implements Store {
  #bytes: Uint8Array | undefined;

  load(): Promise<Uint8Array | undefined> {
    return Promise.resolve(this.#bytes?.slice());
  }

  save(bytes: Uint8Array): Promise<void> {
    this.#bytes = bytes.slice();
    return Promise.resolve();
  }
}

/** The object store of a database, and the key in it. */
const STATES = "states";
const STATE = "chain";

/**
 * A store in the browser's IndexedDB. Two tabs with one name overwrite each other's state, which is
 * harmless: each is a whole chain.
 */
export class IndexedDBStore implements Store {
  readonly #name: string;

  /** @param name - the name of the database, `randomx-chain` by default. */
  constructor(name = "randomx-chain") {
    this.#name = name;
  }

  async load(): Promise<Uint8Array | undefined> {
    const value = await this.#do("readonly", (states) => states.get(STATE) as IDBRequest<unknown>);
    return value instanceof Uint8Array ? value : undefined;
  }

  async save(bytes: Uint8Array): Promise<void> {
    await this.#do("readwrite", (states) => states.put(bytes, STATE));
  }

  /** Runs one transaction. The database is not kept open, which would block its deletion. */
  async #do<T>(
    mode: IDBTransactionMode,
    use: (states: IDBObjectStore) => IDBRequest<T>,
  ): Promise<T> {
    if (typeof indexedDB === "undefined") {
      throw new RandomXError("unsupported", "IndexedDBStore: this environment has no IndexedDB");
    }
    const opening = indexedDB.open(this.#name, 1);
    opening.onupgradeneeded = () => {
      opening.result.createObjectStore(STATES);
    };
    const database = await done(opening, "onsuccess", opening);
    try {
      // By default browsers may report success before the bytes are on the disk.
      const transaction = database.transaction(STATES, mode, { durability: "strict" });
      const request = use(transaction.objectStore(STATES));
      await done(transaction, "oncomplete", request);
      return request.result;
    } finally {
      database.close();
    }
  }
}

/** Resolves with a request's result when `target` reports success. */
function done<T, E extends "onsuccess" | "oncomplete">(
  target: Partial<Record<E | "onerror" | "onabort", unknown>> & { error: DOMException | null },
  event: E,
  request: IDBRequest<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const fail = (): void => {
      // After a successful request, writing to the disk can fail.
      reject(target.error ?? request.error ?? new Error("the database ended the transaction"));
    };
    Object.assign(target, {
      [event]: () => {
        resolve(request.result);
      },
      onerror: fail,
      onabort: fail,
      onblocked: () => {
        reject(new Error("the database is blocked"));
      },
    });
  });
}

/** Matches what `save` appends to the name of the file that it writes. */
const FRESH = /^\.[-0-9a-f]{36}\.new$/u;

/** The age in milliseconds from which such a file belongs to a save that was interrupted. */
const LEFTOVER_MS = 60_000;

/**
 * A store in a file, in Node, Deno and Bun. The file is replaced as a whole: written under a random
 * name, flushed to the disk and renamed. It keeps its mode. If the path is a symbolic link, its target is
 * replaced. A process that ends while it saves leaves the new file, which a later `load` removes.
 */
export class FileStore implements Store {
  readonly #path: string;

  /** @param path - the file. Its folder must exist. */
  constructor(path: string) {
    this.#path = path;
  }

  async load(): Promise<Uint8Array | undefined> {
    const { files } = modules();
    // A file that stays takes space and does no other harm.
    await removeLeftovers(this.#path).catch(() => undefined);
    try {
      const { size } = await files.stat(this.#path);
      if (size > MAX_STATE) throw new Error(`${this.#path}: expected at most ${MAX_STATE} bytes`);
      return new Uint8Array(await files.readFile(this.#path));
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  async save(bytes: Uint8Array): Promise<void> {
    const { files } = modules();
    const path = await target(this.#path);
    const fresh = `${path}.${crypto.randomUUID()}.new`;
    try {
      const mode = await files.stat(path).then(
        (old) => old.mode & 0o777,
        () => 0o600,
      );
      const file = await files.open(fresh, "wx", mode);
      try {
        await file.chmod(mode);
        await file.writeFile(bytes);
        await file.sync();
      } finally {
        await file.close();
      }
      await files.rename(fresh, path);
    } catch (error) {
      await files.rm(fresh, { force: true });
      throw error;
    }
  }
}

/** Follows symbolic links, also to a file that does not exist yet. Returns an absolute path. */
async function target(path: string): Promise<string> {
  const { files, paths } = modules();
  try {
    return await files.realpath(path);
  } catch (error) {
    if (!isMissing(error)) throw error;
    const link = await files.readlink(path).catch(() => undefined);
    if (link === undefined) return paths.resolve(path);
    // The link begins at its own folder, which other links may lead to.
    return target(paths.resolve(await files.realpath(paths.dirname(path)), link));
  }
}

/** Removes the files of interrupted saves. Another process may still write a younger one. */
async function removeLeftovers(path: string): Promise<void> {
  const { files, paths } = modules();
  const { dir, base } = paths.parse(await target(path));
  for (const name of await files.readdir(dir)) {
    if (!name.startsWith(base) || !FRESH.test(name.slice(base.length))) continue;
    const file = paths.join(dir, name);
    const { mtimeMs } = await files.stat(file);
    if (Date.now() - mtimeMs > LEFTOVER_MS) await files.rm(file);
  }
}

function isMissing(error: unknown): boolean {
  return (error as { code?: unknown }).code === "ENOENT";
}

function modules(): {
  files: typeof import("node:fs/promises");
  paths: typeof import("node:path");
} {
  const files = nodeModule("fs")?.promises;
  const paths = nodeModule("path");
  if (!files || !paths)
    throw new RandomXError("unsupported", "FileStore: this environment has no file system");
  return { files, paths };
}
