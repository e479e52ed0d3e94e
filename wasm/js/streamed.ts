/** Hashes of inputs that an iterable yields. */
import type { Scheduler } from "./scheduler.js";
import { stream } from "./stream.js";
import type { Bytes, Follow, Progress, Source, Version } from "./types.js";
import * as validate from "./validate.js";

/** What the hashes have in common. */
export interface Common extends Follow {
  key: Uint8Array;
  version: Version;
}

/** Yields the hashes of inputs in order, and reads no more inputs than the workers have lanes for. */
export async function* hashStream(
  scheduler: Scheduler,
  common: Promise<Common>,
  inputs: Source<Bytes>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { key, version, signal, onProgress } = await common;
  const begin = async (input: Bytes, index: number, signal: AbortSignal): Promise<Uint8Array> => {
    const inputs = [{ bytes: validate.bytes(`inputs[${index}]`, input) }] as const;
    // The number of inputs is not known, so only the first input reports, and only the cache.
    const onCache = (progress: Progress): void => {
      if (progress.phase === "cache") onProgress?.(progress);
    };
    const following = { signal, onProgress: index === 0 ? onCache : undefined };
    const [hash] = await scheduler.whenRoom(signal, () =>
      scheduler.hash({ key, version, inputs }, following),
    );
    return hash;
  };
  yield* stream(inputs, 2 * scheduler.lanes, begin, signal);
}
