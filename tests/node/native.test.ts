/** The native add-on: caches and datasets that workers share, and what happens when one dies. */
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { bytesToHex } from "@noble/hashes/utils.js";
import { afterEach, describe as describeAll, expect, test as testAll, vi } from "vitest";
import type * as product from "../../wasm/js/index.js";
import type { Addon } from "../../wasm/js/native/addon.js";
import { choices } from "../../wasm/js/options.js";
import { Scheduler } from "../../wasm/js/scheduler.js";
import {
  ADDON,
  NATIVE,
  RandomX,
  abortFill,
  addressSpace,
  eventually,
  hasAddon,
  isFull,
  readVectors,
  text,
  watchWorkers,
  type HashVector,
} from "./support.js";

const key = text("test key 000");
const input = text("This is a test");
const known = "639183aae1bf4c9a35884cb46b09cad9175f04efd7684e7262a0ac1c2f0b4e3f";
const [test, describe] = [testAll.runIf(hasAddon), describeAll.runIf(hasAddon)];
const fullTest = testAll.runIf(hasAddon && isFull);
const linuxTest = testAll.runIf(hasAddon && process.platform === "linux");
const addon = hasAddon && (createRequire(import.meta.url)(fileURLToPath(ADDON)) as Addon);
const workers = watchWorkers();
const open: product.RandomX[] = [];

async function create(options?: product.CreateOptions): Promise<product.RandomX> {
  const randomx = await RandomX.create({ ...NATIVE, ...options });
  open.push(randomx);
  return randomx;
}

/** Opens a scheduler, which can demand fresh caches. */
async function openScheduler(): Promise<Scheduler> {
  const workerUrl = new URL("../../wasm/dist/js/worker.js", import.meta.url);
  const scheduler = new Scheduler(choices({ ...NATIVE, threads: 2, workerUrl }));
  await scheduler.open();
  return scheduler;
}

/** Expects the known hash of a scheduler, with a cache that is filled anew if `isFresh`. */
async function expectHash(scheduler: Scheduler, isFresh: boolean): Promise<void> {
  const request = { key, version: 1, inputs: [{ bytes: input }], isFresh } as const;
  const [hash] = await scheduler.hash(request, {});
  expect(bytesToHex(hash)).toBe(known);
}

/** Waits until the workers of this process hold so many caches, none by default. */
async function released(count = 0): Promise<void> {
  await eventually(() => {
    expect(held()).toBe(count);
  });
}

/** Returns the number of datasets that workers of this process hold. */
function datasets(): number {
  if (!addon) throw new Error("there is no add-on");
  return addon.datasetCount();
}

/** Returns the number of caches that workers of this process hold. */
function held(): number {
  if (!addon) throw new Error("there is no add-on");
  return addon.cacheCount();
}

afterEach(() => {
  for (const randomx of open.splice(0)) randomx.dispose();
  workers.length = 0;
});

test("native code hashes, and the configuration says so", async () => {
  const randomx = await create({ threads: 1 });
  expect(randomx.configuration).toMatchObject({ engine: "native", threads: 1, lanes: 8 });
  expect(randomx.configuration.notNative).toBeUndefined();
  expect(randomx.configuration.implementations).toMatch(
    /^aes \S+, argon2d \S+, blake2b \S+, floats \S+, superscalar .+, machine code (x86-64, rounding modes (one load|four loads)|ARM64)$/u,
  );
  expect(bytesToHex(await randomx.hash(key, input))).toBe(known);
  const times = await randomx.measure(key, [input]);
  expect(times.execute).toBeGreaterThan(0);
});

describe("the cache of a key", () => {
  test("is one for all workers and instances, and freed with the last", async () => {
    await released();
    const first = await create({ threads: 2 });
    const second = await create({ threads: 1 });
    const hashes = await first.hashMany(key, Array<Uint8Array>(64).fill(input));
    expect(new Set(hashes.map(bytesToHex))).toEqual(new Set([known]));
    const onProgress = vi.fn();
    await second.prepare(key, { onProgress });
    expect(onProgress.mock.calls).toEqual([[{ phase: "cache", done: 1 }]]);
    expect(bytesToHex(await second.hash(key, input))).toBe(known);
    expect(held()).toBe(1);
    await second.prepare("00");
    expect(held()).toBe(2);
    await first[Symbol.asyncDispose]();
    await second.release("00");
    await second[Symbol.asyncDispose]();
    await released();
  });

  test("is filled anew for a hash that must not trust it, and later workers find the new one", async () => {
    await released();
    const other = await create({ threads: 1 });
    await other.prepare(key);
    const scheduler = await openScheduler();
    await expectHash(scheduler, false);
    expect(held()).toBe(1);
    await expectHash(scheduler, true);
    expect(held()).toBe(2);
    await other.release(key);
    await released(1);
    expect(bytesToHex(await other.hash(key, input))).toBe(known);
    await expectHash(scheduler, false);
    expect(held()).toBe(1);
    await scheduler.close("disposed", "the test is over");
  });

  test("goes on to serve all workers of an instance after another one has filled a fresh cache", async () => {
    await released();
    const first = await create({ threads: 2 });
    expect(bytesToHex(await first.hash(key, input))).toBe(known);
    await eventually(() => {
      expect(first.stats().workers.started).toBe(2);
    });
    const scheduler = await openScheduler();
    await expectHash(scheduler, true);
    await scheduler.close("disposed", "nobody holds the fresh cache");
    await released(1);
    workers.length = 0;
    const hashes = await first.hashMany(key, Array<Uint8Array>(64).fill(input));
    expect(new Set(hashes.map(bytesToHex))).toEqual(new Set([known]));
    expect(held()).toBe(1);
    // None has died, so none was replaced.
    expect(workers).toHaveLength(0);
  });

  linuxTest("is freed when its fill is aborted", async () => {
    const randomx = await create({ threads: 1 });
    await abortFill(randomx, key);
    await released();
    // A cache counts only once it is filled.
    const before = addressSpace();
    for (let round = 0; round < 4; round += 1) await abortFill(randomx, key);
    expect(addressSpace() - before).toBeLessThan(2 * 256);
    expect(bytesToHex(await randomx.hash(key, input))).toBe(known);
  });

  test("is freed when it is released, also while nothing else is called", async () => {
    const randomx = await create({ threads: 1 });
    await randomx.hash(key, input);
    await randomx.release(key);
    await released();
  });

  test("is filled again when the worker that held it dies", async () => {
    const randomx = await create({ threads: 1 });
    await randomx.prepare(key);
    await workers[0]?.terminate();
    expect(bytesToHex(await randomx.hash(key, input))).toBe(known);
    expect(workers).toHaveLength(2);
  });

  test("stays with the workers that live", async () => {
    const randomx = await create({ threads: 2, lanes: 1 });
    await randomx.hashMany(key, Array<Uint8Array>(64).fill(input));
    const before = randomx.stats().caches.count;
    const hashing = randomx.hashMany(key, Array<Uint8Array>(2000).fill(input));
    setTimeout(() => void workers[1]?.terminate(), 100);
    await expect(hashing).rejects.toMatchObject({ code: "worker-failed" });
    expect(bytesToHex(await randomx.hash(key, input))).toBe(known);
    expect(randomx.stats().caches.count).toBe(before);
  });
});

describe("the next key", () => {
  test("is prepared behind the hashes with the present one", async () => {
    const randomx = await create({ threads: 1, slots: 2 });
    await randomx.prepare(key);
    const order: string[] = [];
    const next = randomx.prepare("00").then(() => order.push("prepared"));
    const hashing = randomx.hash(key, input).then(() => order.push("hashed"));
    await Promise.all([next, hashing]);
    // The only worker would hash after the fill.
    expect(order).toEqual(["hashed", "prepared"]);
    expect(workers).toHaveLength(2);
    const progress = vi.fn();
    await randomx.hash("00", input, { onProgress: progress });
    expect(progress).toHaveBeenCalledWith({ phase: "cache", done: 1 });
    expect(randomx.stats().caches.count).toBe(2);
    expect(randomx.configuration.threads).toBe(1);
  });

  test("takes the place of an old one, which an idle worker lets go of meanwhile", async () => {
    await released();
    const randomx = await create({ threads: 1, slots: 2 });
    await randomx.prepare(key);
    await randomx.prepare("00");
    const seen: number[] = [];
    await randomx.prepare("01", {
      onProgress: ({ done }) => {
        if (done > 0.5 && done < 1) seen.push(held());
      },
    });
    // The cache that is being filled does not count. A busy worker lets go late, but once.
    expect([...new Set([2, ...seen])]).toEqual([2, 1]);
    expect(seen.at(-1)).toBe(1);
  });

  test("is prepared by another worker if that one dies", async () => {
    const randomx = await create({ threads: 1, slots: 2 });
    await randomx.prepare(key);
    const stop = new AbortController();
    const stopped = randomx.prepare("00", { signal: stop.signal });
    await eventually(() => {
      expect(workers).toHaveLength(2);
    });
    stop.abort();
    await expect(stopped).rejects.toMatchObject({ code: "aborted" });
    const failing = randomx.prepare("01", {
      onProgress: ({ done }) => {
        if (done > 0.1) void workers[1]?.terminate();
      },
    });
    await expect(failing).rejects.toMatchObject({ code: "worker-failed" });
    expect(bytesToHex(await randomx.hash(key, input))).toBe(known);
    await randomx.prepare("01");
    expect(randomx.stats().slots.map(({ isReady }) => isReady)).toEqual([true, true]);
  });
});

/** The time in which a dataset is built on a slow and busy machine, in milliseconds. Its threads have a low priority. */
const BUILT = 500_000;

describe("a dataset", () => {
  fullTest(
    "is complete before the first hash in fast mode, one for all instances, and replaced for another key",
    async () => {
      await released();
      const { vectors } = readVectors("reference-hashes") as { vectors: HashVector[] };
      const [one = "", other = ""] = new Set(vectors.map(({ key }) => key));
      const [first, second] = [
        await create({ threads: 2, mode: "fast" }),
        await create({ threads: 1, mode: "fast" }),
      ];
      const expectHashes = async (randomx: product.RandomX, key: string): Promise<void> => {
        for (const version of [1, 2] as const) {
          const chosen = vectors.filter((each) => each.key === key && each.version === version);
          const inputs = chosen.map(({ input }) => input);
          const hashes = await randomx.hashMany(key, inputs, { version });
          expect(hashes.map(bytesToHex)).toEqual(chosen.map(({ hash }) => hash));
        }
        expect(randomx.stats().slots).toMatchObject([{ mode: "fast" }]);
        expect(datasets()).toBe(1);
      };
      const seen: number[] = [];
      const onProgress = ({ done }: product.Progress): void => void seen.push(done);
      await first.prepare(one, { onProgress });
      expect(seen).toEqual([...seen].sort((a, b) => a - b));
      expect(seen.length).toBeGreaterThan(20);
      await expectHashes(first, one);
      await expectHashes(second, one);
      await expect(second.prepare(other)).rejects.toMatchObject({ code: "out-of-memory" });
      second.dispose();
      // Its worker is gone a little later.
      await vi.waitFor(() => first.prepare(other), { timeout: BUILT });
      await expectHashes(first, other);
    },
    // It builds two, and hashes with each.
    3 * BUILT,
  );

  fullTest("is built behind the hashes in automatic mode", async () => {
    await released();
    const randomx = await create({ threads: 2, mode: "auto" });
    expect(bytesToHex(await randomx.hash(key, input))).toBe(known);
    expect(randomx.stats().slots).toMatchObject([{ mode: "light" }]);
    await vi.waitFor(
      async () => {
        expect(bytesToHex(await randomx.hash(key, input))).toBe(known);
        expect(randomx.stats().slots).toMatchObject([{ mode: "fast" }]);
      },
      { timeout: BUILT, interval: 200 },
    );
  });

  test("that has no room leaves automatic mode with the cache, and fails fast mode", async () => {
    const auto = await create({ threads: 1, mode: "auto", datasetBytes: 1 << 30 });
    expect(bytesToHex(await auto.hash(key, input))).toBe(known);
    expect(auto.stats().slots).toMatchObject([{ mode: "light" }]);
    const fast = await create({ threads: 1, mode: "fast", datasetBytes: 1 << 30 });
    await expect(fast.hash(key, input)).rejects.toMatchObject({
      code: "out-of-memory",
      message: "datasetBytes: expected room for another dataset in this process",
    });
    expect(datasets()).toBe(0);
  });

  test("that is no longer wanted is abandoned", async () => {
    const randomx = await create({ threads: 1, mode: "fast" });
    await abortFill(randomx, key, 0.12);
    await eventually(() => {
      expect(datasets()).toBe(0);
    });
  });

  test("does not exist in WebAssembly", async () => {
    const creating = RandomX.create({ engine: "jit", mode: "fast" });
    await expect(creating).rejects.toMatchObject({
      code: "unsupported",
      message: "mode: fast mode needs native code: WebAssembly has no dataset",
    });
  });
});
