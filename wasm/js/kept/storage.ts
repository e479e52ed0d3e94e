/** The place of the last key's cache: a file in the origin private file system, which browsers have in secure contexts. */

const FILE_NAME = "randomx-cache";

/** Returns whether the environment has such a file system. */
export function hasStorage(): boolean {
  const { navigator } = globalThis as { navigator?: { storage?: Partial<StorageManager> } };
  return typeof navigator?.storage?.getDirectory === "function";
}

/** @internal Returns the file. Rejects if there is none and it is not to be created, or if the browser refuses access. */
export async function cacheFile(create: boolean): Promise<FileSystemFileHandle> {
  const root = await navigator.storage.getDirectory();
  return root.getFileHandle(FILE_NAME, { create });
}

/** How deleting the kept cache ended: there was none, or an instance in some tab reads or writes it now. */
export type Forgotten = "deleted" | "none" | "in-use";

/** Deletes the file. Rejects if the browser fails to. */
export async function forgetKept(): Promise<Forgotten> {
  if (!hasStorage()) return "none";
  // Nothing is kept where the browser refuses access, as in some private windows.
  const root = await navigator.storage.getDirectory().catch(() => undefined);
  if (!root) return "none";
  try {
    await root.removeEntry(FILE_NAME);
    return "deleted";
  } catch (error) {
    const name = error instanceof DOMException && error.name;
    if (name === "NotFoundError") return "none";
    if (name === "NoModificationAllowedError") return "in-use";
    throw error;
  }
}
