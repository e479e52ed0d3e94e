/** The options of an instance's calls, and the errors that leave them. */
import { asRandomXError } from "./errors.js";
import type { Follow, Progress, Version } from "./types.js";
import * as validate from "./validate.js";

/** How a call is aborted. */
export interface AbortOptions {
  /**
   * Aborting it rejects the call at once with code `aborted`. A cache that the call fills is freed.
   * The instance stays usable.
   */
  signal?: AbortSignal | undefined;
}

/** How a call that may fill a cache is followed and aborted. */
export interface PrepareOptions extends AbortOptions {
  /**
   * Receives the progress of the call. First phase `cache`: the part of the key's cache that is
   * filled, about every 20 ms, or only 1 if the cache is already held or another call for the key comes first.
   * Then phase `hash`: the part of the inputs that is hashed. Each phase ends with 1, except that `verifyBlock`
   * stops a fill that it does not need.
   */
  onProgress?: ((progress: Progress) => void) | undefined;
}

/** How inputs are hashed. */
export interface HashOptions extends PrepareOptions {
  /** RandomX 1 (the default, which Monero runs) or 2. Both use the same cache. */
  version?: Version | undefined;
}

/** Runs a call. Only `RandomXError`s leave it, even if reading its arguments throws something else. */
export async function guarded<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (thrown) {
    throw asRandomXError(thrown);
  }
}

/** Reads the options that follow a call. */
export function follow(options: PrepareOptions): Follow {
  return validate.fields("options", options, {
    signal: validate.signal,
    onProgress: validate.progress,
  });
}

/** Reads the version from the options. */
export function versionOf(options: HashOptions): Version {
  return validate.fields("options", options, { version: validate.version }).version;
}
