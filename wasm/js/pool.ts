/**
 * The RandomX calls of the add-ons that pools use, such as `cryptonight-hashing` and `node-powhash`, for Node.
 * A pool replaces the name in one `require`. In new code use {@link RandomX.verifyShares} of `randomx-web`,
 * which verifies many shares off the event loop, with deadlines.
 *
 * @example
 * ```js
 * const hashing = require("randomx-web/pool"); // Node 20.19, 22.12 or later
 * const hash = hashing.randomx(blob, seedHash, 0);
 * hashing.randomx(blob, seedHash, 0, (error, hash) => {});
 * ```
 *
 * @packageDocumentation
 */
import { Buffer } from "node:buffer";
import { RandomXError, asRandomXError, guardedSync, invalidArgument } from "./errors.js";
import { loadAddon } from "./native/addon.js";
import { NativeHasher, WasmHasher, type Hasher } from "./hasher.js";
import { choices, type Choices, type CreateOptions } from "./options.js";
import { RandomX } from "./randomx.js";
import type { Bytes, Version } from "./types.js";
import * as validate from "./validate.js";

export { RandomXError, type RandomXErrorCode } from "./errors.js";

/** How the calls hash. */
export type PoolOptions = Pick<CreateOptions, "engine" | "maxQueue" | "nativeUrl" | "threads">;

/** RandomX 1 or 2, by the numbers and names that add-ons have. */
export type Algorithm = 0 | -2 | "rx/0" | "rx/2";

/** Receives the result of a call. */
export type HashCallback = (error: RandomXError | null, hash?: Buffer) => void;

const VERSIONS = new Map<unknown, Version>([
  [undefined, 1],
  [0, 1],
  ["rx/0", 1],
  [-2, 2],
  ["rx/2", 2],
]);

/** An instance holds at most three caches. */
const MAX_CACHES = 3;

let options: Partial<Pick<Choices, keyof PoolOptions>> = {};
let caches = 2;
let hasher: Hasher | undefined;
let instance: Promise<RandomX> | undefined;

/**
 * Returns the hash of an input, 32 bytes. Without a callback the call blocks until it is computed, and with a
 * new seed hash until its cache is filled. With a callback it returns at once, threads compute the hash, and
 * the callback receives it or the error. See {@link prepare} for seed hashes whose caches are filled.
 *
 * @param input - the hashing blob, at most 1 MiB.
 * @param seedHash - 32 bytes.
 * @param algorithm - RandomX 1 by default. Others of the add-ons' algorithms are refused.
 * @throws {@link RandomXError} `invalid-argument`, `unsupported`, `out-of-memory`.
 */
export function randomx(input: Bytes, seedHash: Bytes, algorithm?: Algorithm): Buffer;
export function randomx(input: Bytes, seedHash: Bytes, callback: HashCallback): void;
export function randomx(
  input: Bytes,
  seedHash: Bytes,
  algorithm: Algorithm | undefined,
  callback: HashCallback,
): void;
export function randomx(
  input: Bytes,
  seedHash: Bytes,
  algorithm?: Algorithm | HashCallback,
  callback?: HashCallback,
): Buffer | undefined {
  const receive = typeof algorithm === "function" ? algorithm : callback;
  if (receive !== undefined && typeof receive !== "function") {
    throw invalidArgument("callback", "expected a function");
  }
  const version = VERSIONS.get(algorithm === receive ? undefined : algorithm);
  if (!version) throw invalidArgument("algorithm", "expected 0, -2, rx/0 or rx/2");
  const bytes = validate.bytes("input", input);
  const key = validate.hash("seedHash", seedHash);
  if (!receive) return guardedSync(() => bufferOf(hashing().hash(key, version, bytes, caches)));
  const answer = (error: RandomXError | null, hash?: Buffer): void => {
    // Called outside the promise: an exception of the callback must not become a rejection.
    setImmediate(receive, error, hash);
  };
  started()
    .then((randomx) => randomx.hash(key, bytes, { version }))
    .then(
      (hash) => {
        answer(null, bufferOf(hash));
      },
      (thrown: unknown) => {
        answer(asRandomXError(thrown));
      },
    );
  return undefined;
}

/**
 * Fills the cache of a seed hash off the event loop, so that the first hash with it need not wait. Call it
 * when the daemon names the `next_seed_hash`. With WebAssembly this holds for calls with a callback only: the
 * first call without one fills another cache, and blocks. With the native add-on all calls use the same cache.
 *
 * @throws {@link RandomXError} the codes of {@link RandomX.prepare}.
 */
export async function prepare(seedHash: Bytes): Promise<void> {
  const key = validate.hash("seedHash", seedHash);
  const randomx = await started();
  await randomx.prepare(key);
}

/**
 * Sets how many seed hashes' caches are held, 1 to 3 and by default 2, 256 MiB each. Blocking calls hold as many,
 * and calls with a callback and {@link prepare} as many again. Native code shares those of equal seed hashes. Call
 * it first.
 */
export function setRandomxCacheSize(size: number): void {
  caches = validate.count("size", size, MAX_CACHES);
  dispose();
}

/** Returns the size that {@link setRandomxCacheSize} sets. */
export function getRandomxCacheSize(): number {
  return caches;
}

/**
 * Sets how the calls hash. Call it first.
 *
 * @throws {@link RandomXError} `invalid-argument`.
 */
export function configure(given: PoolOptions): void {
  const { engine, maxQueue, nativeUrl, threads } = choices(given);
  options = { engine, maxQueue, nativeUrl, threads };
  dispose();
}

/** Ends the threads and frees the caches. A later call starts again. */
export function dispose(): void {
  instance?.then(
    (randomx) => {
      randomx.dispose();
    },
    () => undefined,
  );
  instance = undefined;
  hasher?.free();
  hasher = undefined;
}

/** Returns the instance, which the first call starts. */
function started(): Promise<RandomX> {
  if (instance) return instance;
  const starting = RandomX.create({ ...options, slots: caches });
  starting.catch(() => {
    if (instance === starting) instance = undefined;
  });
  return (instance = starting);
}

/** Returns what hashes without threads. The first call chooses it. */
function hashing(): Hasher {
  if (hasher) return hasher;
  const { engine = "auto", nativeUrl } = options;
  if (engine === "jit" || engine === "interpreter") return (hasher = new WasmHasher(engine));
  try {
    return (hasher = new NativeHasher(loadAddon(nativeUrl)));
  } catch (error) {
    if (engine === "native") {
      const reason = error instanceof Error ? error.message : String(error);
      throw new RandomXError("unsupported", `engine: ${reason}`, { cause: error });
    }
    return (hasher = new WasmHasher("auto"));
  }
}

function bufferOf(hash: Uint8Array): Buffer {
  return Buffer.from(hash.buffer, hash.byteOffset, hash.length);
}
