/// <reference lib="esnext.disposable" preserve="true" />
import type { Follow } from "./job.js";
import { choices, type Configuration, type CreateOptions } from "./options.js";
import { Pool } from "./pool.js";
import type { Times } from "./protocol.js";
import * as validate from "./validate.js";
import type { Bytes, Difficulty, Version } from "./validate.js";

/** How a call is stopped. */
export interface AbortOptions {
  /**
   * Aborting it rejects the call at once with code `aborted`; a cache half made is freed. The
   * instance stays usable.
   */
  signal?: AbortSignal | undefined;
}

/** How a call that may fill a cache is followed and stopped. */
export interface PrepareOptions extends AbortOptions {
  /**
   * Hears the part of the cache that is filled, 0 to 1, about every 20 ms. The last call
   * says 1; it is the only one where the key's cache is already held.
   */
  onProgress?: ((done: number) => void) | undefined;
}

/** How inputs are hashed. */
export interface HashOptions extends AbortOptions {
  /** RandomX 1 (the default: what Monero runs) or 2. The same cache serves both. */
  version?: Version | undefined;
}

/** What decides whether a block's proof of work is valid. */
export interface BlockToVerify {
  /** The id of the block at the seed height, 32 bytes: the key. */
  seedHash: Bytes;
  /** The block's hashing blob, at most 1 MiB: the input. Monero's are 76 or 77 bytes. */
  hashingBlob: Bytes;
  /** The difficulty that the network demanded of the block. */
  difficulty: Difficulty;
}

/** The answer of {@link RandomX.verifyBlock}. */
export interface Verdict {
  /** Whether the hash meets the difficulty. */
  valid: boolean;
  /** The block's RandomX hash, 32 bytes. */
  hash: Uint8Array;
  /** Where it is not valid: why, in words. */
  reason?: string;
}

/**
 * RandomX in workers of its own, so that the page stays responsive.
 *
 * An instance holds one key's cache at a time, 256 MiB, which its workers share, and requests
 * are begun in the order in which they are made: group work by key. Those that are made
 * together and agree in key and version are hashed together, which is faster. Bytes are given
 * as a `Uint8Array`, which is copied, or as hex. Every method rejects with a
 * {@link RandomXError} and nothing else; each lists its own codes beside `worker-failed` and
 * `disposed`, which any call can meet.
 *
 * @example
 * ```ts
 * const randomx = await RandomX.create();
 * const { valid } = await randomx.verifyBlock({ seedHash, hashingBlob, difficulty });
 * randomx.dispose();
 * ```
 */
export class RandomX {
  readonly #pool: Pool;

  private constructor(pool: Pool) {
    this.#pool = pool;
  }

  /**
   * Starts workers and loads the WebAssembly module (no cache yet: a few MiB). It resolves when
   * the first worker is there; the others join it.
   *
   * @throws {@link RandomXError} `invalid-argument`, `unsupported`, `wasm-blocked`,
   * `out-of-memory`, or `worker-failed` where the worker script or the module cannot be loaded.
   */
  static async create(options: CreateOptions = {}): Promise<RandomX> {
    return new RandomX(await Pool.open(choices(options)));
  }

  /** How this instance works: what was chosen, found and measured so far. */
  get configuration(): Configuration {
    return this.#pool.configuration;
  }

  /**
   * Makes the cache of `key` the one that is held (specification, section 7), so that hashes
   * with it start at once. Another key's cache is freed first. The other methods do this
   * themselves when they must.
   *
   * @param key - at most 1 MiB; may be empty.
   * @throws {@link RandomXError} `invalid-argument`, `out-of-memory`, `aborted`.
   */
  async prepare(key: Bytes, options: PrepareOptions = {}): Promise<void> {
    const request = { key: validate.bytes("key", key), version: 1, inputs: [] } as const;
    await this.#pool.hash(request, follow(options));
  }

  /**
   * The RandomX hash, 32 bytes, of an input (specification, section 2).
   *
   * @param key - at most 1 MiB; may be empty.
   * @param input - at most 1 MiB; may be empty.
   * @throws {@link RandomXError} `invalid-argument`, `out-of-memory`, `aborted`.
   */
  async hash(key: Bytes, input: Bytes, options: HashOptions = {}): Promise<Uint8Array> {
    const request = {
      key: validate.bytes("key", key),
      inputs: [{ bytes: validate.bytes("input", input) }] as const,
      version: versionOf(options),
    };
    const [{ hash }] = await this.#pool.hash(request, follow(options));
    return hash;
  }

  /**
   * The hashes of many inputs, in order: they are spread over the workers, and up to eight at a
   * time step through their programs together, which is faster than one after another.
   *
   * @param key - at most 1 MiB; may be empty.
   * @param inputs - each at most 1 MiB; the list may be empty.
   * @throws {@link RandomXError} `invalid-argument`, `out-of-memory`, `aborted`.
   */
  async hashMany(
    key: Bytes,
    inputs: readonly Bytes[],
    options: HashOptions = {},
  ): Promise<Uint8Array[]> {
    const request = {
      key: validate.bytes("key", key),
      inputs: validate.byteArrays("inputs", inputs).map((bytes) => ({ bytes })),
      version: versionOf(options),
    };
    const hashed = await this.#pool.hash(request, follow(options));
    return hashed.map(({ hash }) => hash);
  }

  /**
   * What one worker spends its time with when it hashes inputs, in milliseconds altogether. It
   * hashes a little slower while it looks at the clock.
   *
   * @param key - at most 1 MiB; may be empty.
   * @param inputs - each at most 1 MiB.
   * @throws {@link RandomXError} `invalid-argument`, `out-of-memory`, `aborted`.
   */
  async measure(key: Bytes, inputs: readonly Bytes[], options: HashOptions = {}): Promise<Times> {
    let times: Times = { fill: 0, generate: 0, compile: 0, execute: 0, items: 0, finish: 0 };
    const request = {
      key: validate.bytes("key", key),
      inputs: validate.byteArrays("inputs", inputs).map((bytes) => ({ bytes })),
      version: versionOf(options),
      onTimes: (measured: Times) => {
        times = measured;
      },
    };
    await this.#pool.hash(request, follow(options));
    return times;
  }

  /**
   * Whether a Monero block's proof of work is valid: its RandomX 1 hash, read as a 256-bit
   * little-endian integer, times the difficulty is below 2^256.
   *
   * This says that the work was done on this blob with this key. That the blob, the seed hash
   * and the difficulty belong to the chain is for the caller to know.
   *
   * @throws {@link RandomXError} `invalid-argument`, `out-of-memory`, `aborted`.
   */
  async verifyBlock(block: BlockToVerify, options: PrepareOptions = {}): Promise<Verdict> {
    const { seedHash, hashingBlob, difficulty } = validate.record("block", block);
    const key = validate.hash("seedHash", seedHash);
    const input = {
      bytes: validate.bytes("hashingBlob", hashingBlob),
      difficulty: validate.difficulty("difficulty", difficulty),
    };
    const request = { key, version: 1, inputs: [input] } as const;
    const [{ valid, hash }] = await this.#pool.hash(request, follow(options));
    if (valid) return { valid, hash };
    return { valid, hash, reason: `the hash does not meet the difficulty ${input.difficulty}` };
  }

  /**
   * The commitment, 32 bytes, to an input and its hash: `Blake2b-256(input || hash)`, as
   * RandomX 2 defines it.
   *
   * @param input - at most 1 MiB; may be empty.
   * @param hash - 32 bytes.
   * @throws {@link RandomXError} `invalid-argument`.
   */
  async commitment(input: Bytes, hash: Bytes): Promise<Uint8Array> {
    const args = { input: validate.bytes("input", input), hash: validate.hash("hash", hash) };
    return this.#pool.ask("commitment", args);
  }

  /**
   * The height of the Monero block whose id is the key for the block at `height`.
   *
   * @param height - a whole number from 0 to 2^53 - 1.
   * @throws {@link RandomXError} `invalid-argument`.
   */
  async seedHeight(height: number): Promise<number> {
    return this.#pool.ask("seedHeight", { height: validate.height("height", height) });
  }

  /**
   * Ends the workers, whatever they are doing, and gives all memory back. What waits rejects with
   * code `disposed`, and so does every later call. A second call does nothing.
   */
  dispose(): void {
    this.#pool.close("disposed", "this RandomX was disposed");
  }

  /** {@link RandomX.dispose}, for `using`. */
  [Symbol.dispose](): void {
    this.dispose();
  }
}

/** The options of a call that are not for the worker. */
function follow(options: PrepareOptions): Follow {
  const { signal, onProgress } = validate.record("options", options);
  return {
    signal: validate.signal("signal", signal),
    onProgress: validate.progress("onProgress", onProgress),
  };
}

/** The version that options ask for. */
function versionOf(options: HashOptions): Version {
  const { version = 1 } = validate.record("options", options);
  return validate.version("version", version);
}
