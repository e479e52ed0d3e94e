/** The place of the last key's cache: a file in the origin private file system, which browsers have in secure contexts. */

const FILE_NAME = "randomx-cache";

/** Tells whether the environment has such a file system. */
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

/** Deletes the file. */
export async function forgetKept(): Promise<Forgotten> {
  if (!hasStorage()) return "none";
  try {
    const root = await navigator.storage.getDirectory();
    await root.removeEntry(FILE_NAME);
    return "deleted";
  } catch (error) {
    const isLocked = error instanceof DOMException && error.name === "NoModificationAllowedError";
    return isLocked ? "in-use" : "none";
  }
}
