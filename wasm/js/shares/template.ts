/** Templates of shares: bytes that many shares have in common. */
import type { Bytes } from "../types.js";
import * as validate from "../validate.js";

/**
 * The hashing blob or the block template of a job, for many shares. An instance reads it without a copy for
 * each share: only the bytes that differ wait in the queue.
 *
 * @example
 * ```ts
 * const template = new ShareTemplate(job.blocktemplate_blob);
 * const [verdict] = randomx.verifyShares([{ seed, block: template, patches, nonce, difficulty }]);
 * ```
 */
export class ShareTemplate {
  readonly #bytes: Uint8Array<ArrayBuffer>;

  /**
   * @param bytes - at most 1 MiB. They are copied, once.
   * @throws {@link RandomXError} `invalid-argument`.
   */
  constructor(bytes: Bytes) {
    this.#bytes = validate.bytes("bytes", bytes);
  }

  /** @internal Returns the bytes of a template, or `undefined` for another value. */
  static bytesOf(value: unknown): Uint8Array<ArrayBuffer> | undefined {
    const isTemplate = typeof value === "object" && value !== null && #bytes in value;
    return isTemplate ? value.#bytes : undefined;
  }
}
