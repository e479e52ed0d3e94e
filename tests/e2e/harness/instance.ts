/** Instances of the package. */
import { RandomX, type CreateOptions } from "../../../wasm/js/index.js";

let shared: Promise<RandomX> | undefined;

/** Returns one instance for all calls in this page, which keeps the caches of several keys. */
export function sharedInstance(): Promise<RandomX> {
  shared ??= RandomX.create({ slots: 3 });
  return shared;
}

/** Does some work with an instance of its own, and disposes of the instance. */
export async function withInstance<T>(
  options: CreateOptions,
  work: (randomx: RandomX) => Promise<T>,
): Promise<T> {
  const randomx = await RandomX.create(options);
  try {
    return await work(randomx);
  } finally {
    randomx.dispose();
  }
}
