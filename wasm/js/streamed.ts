/** Hashes that a loop takes one after another. */
import { onlyCache } from "./job.js";
import type { Scheduler } from "./scheduler.js";
import { stream } from "./stream.js";
import type { Bytes, Follow, Source, Version } from "./types.js";
import * as validate from "./validate.js";

/** An iterator over hashes. */
export type Hashes = AsyncGenerator<Uint8Array, void, undefined>;

/** The key, the version and the options that all hashes of a stream share. */
export interface Common extends Follow {
  key: Uint8Array;
  version: Version;
}

/** Yields the hashes of inputs in order, and reads at most twice as many inputs ahead as the workers have lanes. */
export async function* hashStream(
  scheduler: Scheduler,
  common: Promise<Common>,
  inputs: Source<Bytes>,
): Hashes {
  const { key, version, signal, onProgress } = await common;
  const begin = async (input: Bytes, index: number, signal: AbortSignal): Promise<Uint8Array> => {
    const inputs = [{ bytes: validate.bytes(`inputs[${index}]`, input) }] as const;
    const following = { signal, onProgress: index === 0 ? onlyCache(onProgress) : undefined };
    const [hash] = await scheduler.whenRoom(signal, () =>
      scheduler.hash({ key, version, inputs }, following),
    );
    return hash;
  };
  yield* stream(inputs, 2 * scheduler.lanes, begin, signal, scheduler);
}

/** Lets a loop take the hashes of an array, because TypeScript accepts an array as an iterable. */
export function iterable(hashes: Promise<Uint8Array[]>): Promise<Uint8Array[]> & Hashes {
  const each = (async function* (): Hashes {
    yield* await hashes;
  })();
  return Object.assign(hashes, {
    next: () => each.next(),
    return: () => each.return(),
    throw: (error: unknown) => each.throw(error),
    [Symbol.asyncIterator]: () => each,
    [Symbol.asyncDispose]: async () => {
      await each.return();
    },
  });
}
