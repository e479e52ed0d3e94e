/** Inputs to hash, as callers give them. */
import { follow, versionOf, type HashOptions } from "./calls.js";
import type { Input } from "./protocol.js";
import type { Scheduler } from "./scheduler.js";
import type { Bytes, Version } from "./types.js";
import * as validate from "./validate.js";

/** Inputs to hash, with their key and version. */
interface Work {
  key: Uint8Array;
  version: Version;
  inputs: Input[];
}

/** Checks and copies inputs. Refuses them before copying if the queue has no room. */
export function workOf(
  scheduler: Scheduler,
  key: Bytes,
  inputs: readonly Bytes[],
  options: HashOptions,
  expected?: string,
): Work {
  const { signal } = follow(options);
  const admit = (count: number, bytes: number): void => {
    scheduler.check(count, signal, bytes);
  };
  return {
    key: validate.bytes("key", key),
    inputs: validate.byteArrays("inputs", inputs, admit, expected).map((bytes) => ({ bytes })),
    version: versionOf(options),
  };
}
