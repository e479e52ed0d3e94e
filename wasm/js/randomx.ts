/// <reference lib="esnext.disposable" preserve="true" />
import {
  follow,
  guarded,
  versionOf,
  type AbortOptions,
  type HashOptions,
  type PrepareOptions,
} from "./calls.js";
import { aborted, asRandomXError } from "./errors.js";
import { report } from "./job.js";
import { forgetKept, type Forgotten } from "./kept/storage.js";
import { ChainFollower } from "./chain/follower.js";
import type { ChainSource, FollowOptions } from "./chain/types.js";
import { workOf } from "./work.js";
import { verifyBlock, type BlockToVerify, type Verdict } from "./monero/block.js";
import { ChainVerification, type ChainBlocks, type VerifyChainOptions } from "./monero/chain.js";
import { choices, type Configuration, type CreateOptions } from "./options.js";
import { Scheduler } from "./scheduler.js";
import type { Share } from "./shares/share.js";
import { verifyShares, type ShareVerdict } from "./shares/verify.js";
import type { Stats } from "./stats.js";
import { hashStream, iterable, type Hashes } from "./streamed.js";
import type { Bytes, Difficulty, Source, Times } from "./types.js";
import * as validate from "./validate.js";

/**
 * RandomX in its own workers, so that the page stays responsive.
 *
 * An instance holds the caches of as many keys as it has `slots` (one by default), 256 MiB each. The
 * workers share them. Requests start in the order of the calls, except that none waits while another
 * key's cache is filled or released. Changing keys takes time, so group the work by key. Requests
 * made together with the same key and version are hashed together, which is faster. The queue is
 * bounded; see `maxQueue`.
 *
 * Bytes are a `Uint8Array`, which is copied, or hex. Every method rejects with a {@link RandomXError}
 * and nothing else. Each method lists its own codes. Any call can also meet `worker-failed`,
 * `queue-full` and `disposed`. Every method that waits takes a `signal`, and rejects with `aborted`
 * when it is aborted.
 *
 * @example
 * ```ts
 * const randomx = await RandomX.create();
 * const { valid } = await randomx.verifyBlock({ seedHash, hashingBlob, difficulty });
 * randomx.dispose();
 * ```
 */
export class RandomX {
  readonly #scheduler: Scheduler;

  private constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
  }

  /**
   * Starts workers and loads the WebAssembly module. It fills no cache yet, and takes a few MiB. It
   * resolves when the first worker has started; the others follow. `onProgress` receives phase
   * `load`.
   *
   * @throws {@link RandomXError} `invalid-argument`, `unsupported`, `wasm-blocked`,
   * `out-of-memory`, or `worker-failed` if the worker script or the module cannot be loaded.
   */
  static create(options: CreateOptions & PrepareOptions = {}): Promise<RandomX> {
    return guarded(async () => {
      const chosen = choices(options);
      const { signal, onProgress } = follow(options);
      if (signal?.aborted) throw aborted(signal);
      const scheduler = new Scheduler(chosen);
      const stop = (): void => void scheduler.close("aborted", "the call was aborted");
      signal?.addEventListener("abort", stop);
      try {
        report(onProgress, { phase: "load", done: 0 });
        await scheduler.open();
        report(onProgress, { phase: "load", done: 1 });
        // The listener may have aborted it.
        if (signal?.aborted) throw aborted(signal);
        return new RandomX(scheduler);
      } catch (thrown) {
        stop();
        throw signal?.aborted ? aborted(signal) : thrown;
      } finally {
        signal?.removeEventListener("abort", stop);
      }
    });
  }

  /**
   * Deletes the cache that {@link CreateOptions.keepCache} has kept. An instance with this option may write
   * it again: dispose of such instances first. Rejects if the browser fails to delete it.
   */
  static forgetCache(): Promise<Forgotten> {
    return guarded(forgetKept);
  }

  /** How this instance works: the chosen options, the detected features and the measured engine. */
  get configuration(): Configuration {
    return this.#scheduler.configuration;
  }

  /** Returns what this instance has done so far, and what it is doing. */
  stats(): Stats {
    return this.#scheduler.stats;
  }

  /**
   * Fills the cache of `key` (specification, section 7) and holds it, so that hashes with it start at
   * once. If all slots are in use, it replaces the least recently used cache. The other methods do
   * this themselves when necessary. Native code fills it with a thread of its own, on Linux of low priority, if
   * it holds another key's cache and has a slot for both.
   *
   * @param key - at most 1 MiB; may be empty.
   * @throws {@link RandomXError} `invalid-argument`, `out-of-memory`, `aborted`.
   */
  prepare(key: Bytes, options: PrepareOptions = {}): Promise<void> {
    return guarded(async () => {
      const request = { key: validate.bytes("key", key), version: 1, inputs: [] } as const;
      await this.#scheduler.hash(request, follow(options));
    });
  }

  /**
   * Returns the RandomX hash of an input, 32 bytes (specification, section 2).
   *
   * @param key - at most 1 MiB; may be empty.
   * @param input - at most 1 MiB; may be empty.
   * @throws {@link RandomXError} `invalid-argument`, `out-of-memory`, `aborted`.
   */
  hash(key: Bytes, input: Bytes, options: HashOptions = {}): Promise<Uint8Array> {
    return guarded(async () => {
      const request = {
        key: validate.bytes("key", key),
        inputs: [{ bytes: validate.bytes("input", input) }] as const,
        version: versionOf(options),
      };
      const [hash] = await this.#scheduler.hash(request, follow(options));
      return hash;
    });
  }

  /**
   * Releases the cache of `key`, 256 MiB, when all earlier requests for it are done. If it is not
   * held, nothing happens. Engines collect the memory in their own time.
   *
   * @param key - at most 1 MiB; may be empty.
   * @throws {@link RandomXError} `invalid-argument`, `aborted`.
   */
  release(key: Bytes, options: AbortOptions = {}): Promise<void> {
    return guarded(() =>
      this.#scheduler.release(validate.bytes("key", key), follow(options).signal),
    );
  }

  /**
   * Returns the hashes of many inputs, in order. The inputs are spread over the workers, and each
   * worker hashes up to eight together, which is faster than one after another.
   *
   * An array is one request with one answer. A loop can take its hashes too, after all are computed. Any
   * other iterable, or an async iterable, is read while its hashes are taken. At most twice as many inputs
   * as the workers have lanes are in progress; no more are read until the caller takes a hash. While other
   * calls fill the queue, they wait for room. Leaving the loop ends the work.
   *
   * @param key - at most 1 MiB; may be empty.
   * @param inputs - each at most 1 MiB; there may be none. An empty array fills the cache, as
   * {@link RandomX.prepare} does.
   * @throws {@link RandomXError} `invalid-argument`, `out-of-memory`, `aborted`. Errors of an iterable
   * arrive unchanged.
   */
  hashMany(
    key: Bytes,
    inputs: readonly Bytes[],
    options?: HashOptions,
  ): Promise<Uint8Array[]> & AsyncIterable<Uint8Array>;
  hashMany(
    key: Bytes,
    inputs: Source<Bytes>,
    options?: HashOptions,
  ): AsyncGenerator<Uint8Array, void, undefined>;
  hashMany(
    key: Bytes,
    inputs: readonly Bytes[] | Source<Bytes>,
    options: HashOptions = {},
  ): (Promise<Uint8Array[]> & AsyncIterable<Uint8Array>) | Hashes {
    if (validate.isSource(inputs)) {
      // Read at the call, although the generator starts at the first `next`.
      const common = guarded(() =>
        Promise.resolve({
          key: validate.bytes("key", key),
          version: versionOf(options),
          ...follow(options),
        }),
      );
      common.catch(() => undefined);
      return hashStream(this.#scheduler, common, inputs);
    }
    return iterable(
      guarded(async () => {
        const work = workOf(this.#scheduler, key, inputs, options, "an array or an iterable");
        return this.#scheduler.hash(work, follow(options));
      }),
    );
  }

  /**
   * Measures how many milliseconds one worker spends with each kind of work when it hashes inputs.
   * Reading the clock makes hashing a little slower.
   *
   * @param key - at most 1 MiB; may be empty.
   * @param inputs - each at most 1 MiB. Without any, it fills the cache, and all times are 0.
   * @throws {@link RandomXError} `invalid-argument`, `out-of-memory`, `aborted`.
   */
  measure(key: Bytes, inputs: readonly Bytes[], options: HashOptions = {}): Promise<Times> {
    return guarded(async () => {
      let times: Times = { fill: 0, generate: 0, compile: 0, execute: 0, items: 0, finish: 0 };
      const request = {
        ...workOf(this.#scheduler, key, inputs, options),
        onTimes: (measured: Times) => {
          times = measured;
        },
      };
      await this.#scheduler.hash(request, follow(options));
      return times;
    });
  }

  /**
   * Verifies shares that miners submit to a pool. They may have several seeds, and be of both versions of
   * RandomX. Those of one seed are hashed together, a higher priority first.
   *
   * It returns a promise for each share, in their order. Each resolves as soon as its share is hashed, or its
   * `timeout` is over, and none ever rejects. Either all shares wait then, or none: if one is malformed or the
   * queue has no room, the call throws.
   *
   * @throws {@link RandomXError} `invalid-argument`, `queue-full`, `aborted`, `disposed`.
   *
   * @example
   * ```ts
   * const [verdict] = randomx.verifyShares([{ seed, blob, nonce, target, hash, timeout: 5000 }]);
   * if ((await verdict).status === "valid") credit(miner);
   * ```
   */
  verifyShares(shares: readonly Share[], options: AbortOptions = {}): Promise<ShareVerdict>[] {
    try {
      return verifyShares(this.#scheduler, shares, follow(options).signal);
    } catch (thrown) {
      throw asRandomXError(thrown);
    }
  }

  /**
   * Verifies a Monero block: its claims, and its proof of work. The proof of work is valid if the
   * RandomX 1 hash, read as a 256-bit little-endian integer, times the difficulty is below 2^256. A
   * block that cannot be read is not valid; nothing is thrown.
   *
   * This proves that the work was done on this block with this key. The caller must know that the
   * seed hash and the difficulty belong to the chain, or use {@link RandomX.verifyChain}.
   *
   * @throws {@link RandomXError} `invalid-argument`, `out-of-memory`, `aborted`.
   */
  verifyBlock(block: BlockToVerify, options: PrepareOptions = {}): Promise<Verdict> {
    return guarded(async () => verifyBlock(this.#scheduler, block, follow(options)));
  }

  /**
   * Follows Monero's chain through sources that need not be trusted: the chain with the most work wins.
   * It yields a {@link ChainEvent} for each new tip, each reorganisation, and whatever else happens. A
   * first start begins at blocks that Monero's own source code names, a later one with the state in
   * the `store`. One source alone could hide a chain with more work: name two or more.
   *
   * @throws {@link RandomXError} `invalid-argument`, `aborted`, `disposed`. The iterator rejects with
   * `invalid-argument` if the anchor is refused or the store has another chain's state, and with
   * `out-of-memory`, `aborted`, `disposed` or `worker-failed`.
   *
   * @example
   * ```ts
   * const chain = randomx.follow([{ node: a }, { relay: b }], { store: new IndexedDBStore() });
   * for await (const event of chain) if (event.type === "tip") show(event.tip.height);
   * ```
   */
  follow(sources: readonly ChainSource[], options: FollowOptions = {}): ChainFollower {
    return new ChainFollower(this.#scheduler, sources, options);
  }

  /**
   * Verifies the blocks of a Monero chain, in order: each is a block and follows the one before; its
   * height, timestamp and version fit; its seed hash and difficulty are those that the earlier blocks
   * demand; and its proof of work is valid. It yields one verdict for each block, and ends after a
   * block that breaks a rule.
   *
   * The checkpoint is trusted. The verification has a newer one at its end. It cannot know whether
   * another chain has more work: compare more than one node.
   *
   * @throws {@link RandomXError} `invalid-argument`. The iterator rejects with `invalid-argument`,
   * `out-of-memory`, `aborted`, and with the errors of `blocks` unchanged.
   *
   * @example
   * ```ts
   * const chain = randomx.verifyChain(node.getBlocks(from, to), { checkpoint });
   * for await (const { height, valid, checks } of chain) show(height, valid, checks);
   * localStorage.setItem("checkpoint", JSON.stringify(chain.checkpoint));
   * ```
   */
  verifyChain(blocks: ChainBlocks, options: VerifyChainOptions): ChainVerification {
    return new ChainVerification(this.#scheduler, blocks, options, follow(options));
  }

  /**
   * Returns the commitment, 32 bytes, to an input and its hash: `Blake2b-256(input || hash)`, as
   * RandomX 2 defines it.
   *
   * @param input - at most 1 MiB; may be empty.
   * @param hash - 32 bytes.
   * @throws {@link RandomXError} `invalid-argument`.
   */
  commitment(input: Bytes, hash: Bytes, options: AbortOptions = {}): Promise<Uint8Array> {
    return guarded(() => {
      const args = { input: validate.bytes("input", input), hash: validate.hash("hash", hash) };
      return this.#scheduler.ask("commitment", args, follow(options).signal);
    });
  }

  /**
   * Returns whether a hash meets a difficulty: as a 256-bit little-endian integer, times the
   * difficulty, it must be below 2^256.
   *
   * @param hash - 32 bytes.
   * @throws {@link RandomXError} `invalid-argument`.
   */
  checkDifficulty(
    hash: Bytes,
    difficulty: Difficulty,
    options: AbortOptions = {},
  ): Promise<boolean> {
    return guarded(() => {
      const args = {
        hash: validate.hash("hash", hash),
        difficulty: validate.difficulty("difficulty", difficulty),
      };
      return this.#scheduler.ask("checkDifficulty", args, follow(options).signal);
    });
  }

  /**
   * Returns the height of the Monero block whose id is the key for the block at `height`.
   *
   * @param height - a whole number from 0 to 2^53 - 1.
   * @throws {@link RandomXError} `invalid-argument`.
   */
  seedHeight(height: number, options: AbortOptions = {}): Promise<number> {
    return guarded(() => {
      const args = { height: validate.height("height", height) };
      return this.#scheduler.ask("seedHeight", args, follow(options).signal);
    });
  }

  /**
   * Ends the workers at once and frees all memory. Waiting and later calls reject with code
   * `disposed`. A second call does nothing.
   */
  dispose(): void {
    void this.#end();
  }

  /** Does the same as {@link RandomX.dispose}, for `using`. */
  [Symbol.dispose](): void {
    this.dispose();
  }

  /**
   * Disposes, for `await using`. Waits until the workers are gone, where the system reports that, and until
   * the stores have the last states of chains that were followed, or fail.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end();
  }

  #end(): Promise<void> {
    return this.#scheduler.close("disposed", "this RandomX was disposed");
  }
}
