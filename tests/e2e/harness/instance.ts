/** Instances of the package, set up in a chosen way. */
import { RandomX, type CreateOptions } from "../../../wasm/js/index.js";

/** Lets work be done with an instance, which is disposed of whatever comes of it. */
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
