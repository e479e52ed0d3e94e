/** A browser's origin private file system, as far as kept caches use it. */

/** The size of a cache in bytes. */
export const CACHE_SIZE = 1 << 28;

/** A browser's storage with room for one file, and with faults. */
export class FakeStorage {
  content: Uint8Array | undefined;
  quota = 2 ** 31;
  isLocked = false;
  /** Handles that only read. */
  readers = 0;
  /** Whether several of them may be open at once. */
  isShared = true;
  /** Writes that succeed before the storage is full. */
  writes = Infinity;

  readonly estimate = (): Promise<StorageEstimate> =>
    Promise.resolve({ quota: this.quota, usage: 0 });

  readonly getDirectory = (): Promise<unknown> =>
    Promise.resolve({
      getFileHandle: (_name: string, { create }: { create: boolean }) => {
        if (!this.content && !create) return Promise.reject(this.#error("NotFoundError"));
        this.content ??= new Uint8Array();
        return Promise.resolve({
          createSyncAccessHandle: (options: unknown) => this.#open(options),
        });
      },
      removeEntry: () => {
        if (this.isUsed) return Promise.reject(this.#error("NoModificationAllowedError"));
        if (!this.content) return Promise.reject(this.#error("NotFoundError"));
        this.content = undefined;
        return Promise.resolve();
      },
    });

  /** Whether a handle is open. */
  get isUsed(): boolean {
    return this.isLocked || this.readers > 0;
  }

  #open(options: unknown): Promise<unknown> {
    const { mode } = options as { mode: string };
    const isReader = this.isShared && mode === "read-only";
    if (isReader ? this.isLocked : this.isUsed) {
      return Promise.reject(this.#error("NoModificationAllowedError"));
    }
    if (isReader) this.readers += 1;
    else this.isLocked = true;
    const mayWrite = (): void => {
      if (isReader) throw this.#error("NoModificationAllowedError");
    };
    return Promise.resolve({
      read: (into: Uint8Array, { at }: { at: number }): number => {
        const from = this.#held().subarray(at, at + into.length);
        into.set(from);
        return from.length;
      },
      write: (from: Uint8Array, { at }: { at: number }): number => {
        mayWrite();
        if ((this.writes -= 1) < 0) return 0;
        this.#resize(Math.max(this.#held().length, at + from.length));
        this.#held().set(from, at);
        return from.length;
      },
      truncate: (size: number) => {
        mayWrite();
        this.#resize(size);
      },
      flush: () => undefined,
      getSize: () => this.#held().length,
      close: () => {
        if (isReader) this.readers -= 1;
        else this.isLocked = false;
      },
    });
  }

  #held(): Uint8Array {
    if (!this.content) throw new Error("there is no file");
    return this.content;
  }

  #resize(size: number): void {
    const before = this.#held();
    if (size === before.length) return;
    // Grown at once to the size of a whole file, because each step would copy it.
    const buffer =
      before.buffer.byteLength > size ? before.buffer : new ArrayBuffer(CACHE_SIZE + 8192);
    this.content = new Uint8Array(buffer, 0, size);
  }

  #error(name: string): DOMException {
    return new DOMException("", name);
  }
}
