/** Keeps a cache in the browser's storage, and reads it again. */
import { RandomX } from "../../../wasm/js/index.js";
import { withInstance } from "./instance.js";
import { toHex } from "./hex.js";
import type { Batch } from "./vectors.js";

/** The file, and the place of a byte of the cache in it. */
const FILE = "randomx-cache";
const PLACE = 123_456_789;

/** The hashes of a new instance, and its use of the stored cache. */
export interface Visit {
  hashes: string[];
  /** Whether the cache was read from the storage. */
  wasRead: boolean;
  /** Whether it is there at the end of the visit. */
  isKept: boolean;
}

/** Hashes a batch in a new instance. With `patience` it waits so many milliseconds for the cache to be kept. */
export async function visit(threads: number, batch: Batch, patience: number): Promise<Visit> {
  return visitUntil(threads, batch, patience, (isKept) => isKept);
}

/** Visits with two instances that have a key each, at the same time. Both wait for one of their caches to be kept. */
export async function visitTwice(batches: Batch[], patience: number): Promise<Visit[]> {
  let isOneKept = false;
  const isOver = (isKept: boolean): boolean => (isOneKept ||= isKept);
  return Promise.all(batches.map((batch) => visitUntil(1, batch, patience, isOver)));
}

/** As {@link visit}, but waits until `isOver`, which receives whether the instance's cache is kept. */
async function visitUntil(
  threads: number,
  batch: Batch,
  patience: number,
  isOver: (isKept: boolean) => boolean,
): Promise<Visit> {
  return withInstance({ threads, keepCache: true }, async (randomx) => {
    const hashes = await randomx.hashMany(batch.key, batch.inputs, { version: batch.version });
    const end = performance.now() + patience;
    const isKept = (): boolean => randomx.stats().slots.some((slot) => slot.isKept);
    while (!isOver(isKept()) && performance.now() < end) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    const wasRead = randomx.stats().caches.read === 1;
    return { hashes: hashes.map(toHex), wasRead, isKept: isKept() };
  });
}

/** Changes a byte of the kept cache, as a fault of the storage would. */
export async function spoil(): Promise<void> {
  const file = await keptFile();
  const [byte = 0] = new Uint8Array(
    await (await file.getFile()).slice(PLACE, PLACE + 1).arrayBuffer(),
  );
  await rewrite(file, { type: "write", position: PLACE, data: Uint8Array.of(byte ^ 1) });
}

/** Cuts the file short, as if a browser had lost its end. */
export async function cutShort(): Promise<void> {
  await rewrite(await keptFile(), { type: "truncate", size: PLACE });
}

/** Deletes the file through the package. */
export async function forget(): Promise<string> {
  return RandomX.forgetCache();
}

async function keptFile(): Promise<FileSystemFileHandle> {
  const root = await navigator.storage.getDirectory();
  return root.getFileHandle(FILE);
}

async function rewrite(file: FileSystemFileHandle, change: WriteParams): Promise<void> {
  const writable = await file.createWritable({ keepExistingData: true });
  await writable.write(change);
  await writable.close();
}
