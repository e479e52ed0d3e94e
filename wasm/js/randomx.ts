/// <reference lib="esnext.disposable" preserve="true" />
import { aborted, asRandomXError } from "./errors.js";
import type { Follow, Progress } from "./job.js";
import { verifyBlock, type BlockToVerify, type Verdict } from "./monero/block.js";
import { ChainVerification, type ChainBlocks, type VerifyChainOptions } from "./monero/chain.js";
import { choices, type Configuration, type CreateOptions } from "./options.js";
import { Pool } from "./pool.js";
import type { Input, Times } from "./protocol.js";
import type { Stats } from "./stats.js";
import { stream, type Source } from "./stream.js";
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
   * Hears how far the call is: of phase `cache`, the part of the key's cache that is filled, about
   * every 20 ms, or only 1 where that cache is held; then, of phase `hash`, the part of the inputs
   * that is hashed. Each phase ends with 1.
   */
  onProgress?: ((progress: Progress) => void) | undefined;
}

/** How inputs are hashed. */
export interface HashOptions extends PrepareOptions {
  /** RandomX 1 (the default: what Monero runs) or 2. The same cache serves both. */
  version?: Version | undefined;
}

/**
 * RandomX in workers of its own, so that the page stays responsive.
 *
 * An instance holds the caches of as many keys as it has `slots` (one, if nothing else is asked
 * for), 256 MiB each, which its workers share. Requests are begun in the order in which they are
 * made, except that none waits while the cache of another one's key is filled: group work by key.
 * Those that are made together and agree in key and version are hashed together, which is faster.
 * What waits is bounded, see `maxQueue`.
 *
 * Bytes are given as a `Uint8Array`, which is copied, or as hex. Every method rejects with a
 * {@link RandomXError} and nothing else; each lists its own codes beside `worker-failed`,
 * `queue-full` and `disposed`, which any call can meet. Every method that waits takes a `signal`,
 * and rejects with `aborted` when that is.
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
   * the first worker is there; the others join it. `onProgress` hears of phase `load`.
   *
   * @throws {@link RandomXError} `invalid-argument`, `unsupported`, `wasm-blocked`,
   * `out-of-memory`, or `worker-failed` where the worker script or the module cannot be loaded.
   */
  static async create(options: CreateOptions & PrepareOptions = {}): Promise<RandomX> {
    const chosen = choices(options);
    const { signal, onProgress } = follow(options);
    if (signal?.aborted) throw aborted(signal);
    const pool = new Pool(chosen);
    const stop = (): void => void pool.close("aborted", "the call was aborted");
    signal?.addEventListener("abort", stop);
    try {
      onProgress?.({ phase: "load", done: 0 });
      await pool.open();
      onProgress?.({ phase: "load", done: 1 });
      return new RandomX(pool);
    } catch (thrown) {
      stop();
      throw signal?.aborted ? aborted(signal) : asRandomXError(thrown);
    } finally {
      signal?.removeEventListener("abort", stop);
    }
  }

  /** How this instance works: what was chosen, found and measured so far. */
  get configuration(): Configuration {
    return this.#pool.configuration;
  }

  /** What this instance has done so far, and is at. */
  stats(): Stats {
    return this.#pool.stats;
  }

  /**
   * Has the cache of `key` filled (specification, section 7) and held, so that hashes with it start
   * at once. Where all slots are in use, it takes the place of the cache that has been without
   * work for longest. The other methods do this themselves when they must.
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
   * Gives the cache of `key` back, 256 MiB, when all that was asked of it before is done. Where none
   * is held, it does nothing. Engines collect such memory in their own time.
   *
   * @param key - at most 1 MiB; may be empty.
   * @throws {@link RandomXError} `invalid-argument`, `aborted`.
   */
  async release(key: Bytes, options: AbortOptions = {}): Promise<void> {
    await this.#pool.release(validate.bytes("key", key), follow(options).signal);
  }

  /**
   * The hashes of many inputs, in order: they are spread over the workers, and up to eight at a
   * time step through their programs together, which is faster than one after another.
   *
   * An array is one request, with one answer. Any other iterable, or an asynchronous one, is read as
   * its hashes are taken: twice as many inputs are at work as the workers have lanes, and no more are
   * read before the caller has taken a hash. Leaving the loop ends what was begun.
   *
   * @param key - at most 1 MiB; may be empty.
   * @param inputs - each at most 1 MiB; there may be none.
   * @throws {@link RandomXError} `invalid-argument`, `out-of-memory`, `aborted`.
   */
  hashMany(key: Bytes, inputs: readonly Bytes[], options?: HashOptions): Promise<Uint8Array[]>;
  hashMany(
    key: Bytes,
    inputs: Source<Bytes>,
    options?: HashOptions,
  ): AsyncGenerator<Uint8Array, void, undefined>;
  hashMany(
    key: Bytes,
    inputs: readonly Bytes[] | Source<Bytes>,
    options: HashOptions = {},
  ): Promise<Uint8Array[]> | AsyncGenerator<Uint8Array, void, undefined> {
    return validate.isSource(inputs)
      ? this.#hashStream(key, inputs, options)
      : this.#hashArray(key, inputs, options);
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
      ...this.#manyOf(key, inputs, options),
      onTimes: (measured: Times) => {
        times = measured;
      },
    };
    await this.#pool.hash(request, follow(options));
    return times;
  }

  /**
   * Whether a Monero block is what it is said to be, and its proof of work is valid: its RandomX 1
   * hash, read as a 256-bit little-endian integer, times the difficulty is below 2^256. A block that
   * cannot be read is not valid, and no error.
   *
   * This says that the work was done on this block with this key. That the seed hash and the
   * difficulty belong to the chain is for the caller to know, or for {@link RandomX.verifyChain}.
   *
   * @throws {@link RandomXError} `invalid-argument`, `out-of-memory`, `aborted`.
   */
  async verifyBlock(block: BlockToVerify, options: PrepareOptions = {}): Promise<Verdict> {
    return verifyBlock(this.#pool, block, follow(options));
  }

  /**
   * Verifies the blocks of a Monero chain, in order: that each is a block and follows on the one
   * before, its height, timestamp and version, the seed hash and the difficulty that the blocks
   * before it demand, and its proof of work. Verdicts come as blocks do, and it ends after one that
   * is not valid.
   *
   * What is believed is the checkpoint, which the verification gives again at its end. That nobody
   * keeps a chain with more work secret is for the caller to find out, from more than one node.
   *
   * @throws {@link RandomXError} `invalid-argument`; the iterator rejects with that too, with what
   * `blocks` throws, `out-of-memory`, `aborted`.
   *
   * @example
   * ```ts
   * const chain = randomx.verifyChain(node.getBlocks(from, to), { checkpoint });
   * for await (const { height, valid, checks } of chain) show(height, valid, checks);
   * localStorage.setItem("checkpoint", JSON.stringify(chain.checkpoint));
   * ```
   */
  verifyChain(blocks: ChainBlocks, options: VerifyChainOptions): ChainVerification {
    return new ChainVerification(this.#pool, blocks, options, follow(options));
  }

  /**
   * The commitment, 32 bytes, to an input and its hash: `Blake2b-256(input || hash)`, as
   * RandomX 2 defines it.
   *
   * @param input - at most 1 MiB; may be empty.
   * @param hash - 32 bytes.
   * @throws {@link RandomXError} `invalid-argument`.
   */
  async commitment(input: Bytes, hash: Bytes, options: AbortOptions = {}): Promise<Uint8Array> {
    const args = { input: validate.bytes("input", input), hash: validate.hash("hash", hash) };
    return this.#pool.ask("commitment", args, follow(options).signal);
  }

  /**
   * Whether a hash meets a difficulty: as a 256-bit little-endian integer, times the difficulty, it
   * is below 2^256.
   *
   * @param hash - 32 bytes.
   * @throws {@link RandomXError} `invalid-argument`.
   */
  async checkDifficulty(
    hash: Bytes,
    difficulty: Difficulty,
    options: AbortOptions = {},
  ): Promise<boolean> {
    const args = {
      hash: validate.hash("hash", hash),
      difficulty: validate.difficulty("difficulty", difficulty),
    };
    return this.#pool.ask("checkDifficulty", args, follow(options).signal);
  }

  /**
   * The height of the Monero block whose id is the key for the block at `height`.
   *
   * @param height - a whole number from 0 to 2^53 - 1.
   * @throws {@link RandomXError} `invalid-argument`.
   */
  async seedHeight(height: number, options: AbortOptions = {}): Promise<number> {
    const args = { height: validate.height("height", height) };
    return this.#pool.ask("seedHeight", args, follow(options).signal);
  }

  /**
   * Ends the workers, whatever they are doing, and gives all memory back. What waits rejects with
   * code `disposed`, and so does every later call. A second call does nothing.
   */
  dispose(): void {
    void this.#end();
  }

  /** {@link RandomX.dispose}, for `using`. */
  [Symbol.dispose](): void {
    this.dispose();
  }

  /** {@link RandomX.dispose}, for `await using`: where that can be known, waits until they are gone. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end();
  }

  #end(): Promise<void> {
    return this.#pool.close("disposed", "this RandomX was disposed");
  }

  async #hashArray(
    key: Bytes,
    inputs: readonly Bytes[],
    options: HashOptions,
  ): Promise<Uint8Array[]> {
    const request = this.#manyOf(key, inputs, options);
    const hashed = await this.#pool.hash(request, follow(options));
    return hashed.map(({ hash }) => hash);
  }

  async *#hashStream(
    key: Bytes,
    inputs: Source<Bytes>,
    options: HashOptions,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    const request = { key: validate.bytes("key", key), version: versionOf(options) };
    const { signal, onProgress } = follow(options);
    const { threads, lanes } = this.configuration;
    const begin = async (input: Bytes, index: number, signal: AbortSignal): Promise<Uint8Array> => {
      const inputs = [{ bytes: validate.bytes(`inputs[${index}]`, input) }] as const;
      // How many there will be is not known: the first one tells of the cache, and no phase after.
      const hear = (progress: Progress): void => {
        if (progress.phase === "cache") onProgress?.(progress);
      };
      const following = { signal, onProgress: index === 0 ? hear : undefined };
      const [{ hash }] = await this.#pool.hash({ ...request, inputs }, following);
      return hash;
    };
    yield* stream(inputs, 2 * threads * lanes, begin, signal);
  }

  #manyOf(
    key: Bytes,
    inputs: readonly Bytes[],
    options: HashOptions,
  ): { key: Uint8Array; version: Version; inputs: Input[] } {
    // Before they are copied.
    if (Array.isArray(inputs)) this.#pool.check(inputs.length, follow(options).signal);
    return {
      key: validate.bytes("key", key),
      inputs: validate.byteArrays("inputs", inputs).map((bytes) => ({ bytes })),
      version: versionOf(options),
    };
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
