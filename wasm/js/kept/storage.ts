/** The place of the last key's cache: a file in the origin private file system, which browsers have in secure contexts. */
import { RandomXError } from "../errors.js";

const FILE_NAME = "randomx-cache";

/** Tells whether the environment has such a file system. */
export function hasStorage(): boolean {
  const { navigator } = globalThis as { navigator?: { storage?: Partial<StorageManager> } };
  return typeof navigator?.storage?.getDirectory === "function";
}

/** Returns the file. Rejects if there is none and it is not to be created, or if the browser refuses access. */
export async function cacheFile(create: boolean): Promise<FileSystemFileHandle> {
  const root = await navigator.storage.getDirectory();
  return root.getFileHandle(FILE_NAME, { create });
}

/** Deletes the file. Resolves with whether there was one. */
export async function forgetKept(): Promise<boolean> {
  if (!hasStorage()) return false;
  try {
    const root = await navigator.storage.getDirectory();
    await root.removeEntry(FILE_NAME);
    return true;
  } catch (error) {
    const name = error instanceof DOMException ? error.name : "";
    if (name === "NotFoundError") return false;
    // Some browsers have the file system, but refuse access in private windows.
    if (name === "SecurityError") return false;
    const reason = error instanceof Error ? error.message : String(error);
    throw new RandomXError("worker-failed", `the kept cache could not be deleted: ${reason}`, {
      cause: error,
    });
  }
}
