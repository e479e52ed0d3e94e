/** Slots: which cache is replaced, which requests wait, and which memory is released. */
import { bytesToHex } from "@noble/hashes/utils.js";
import { afterEach, describe, expect, test as quickTest, vi } from "vitest";
import type * as product from "../../wasm/js/index.js";
import { AnyRandomX, abortFill, eventually, fullTest, text, watchWorkers } from "./support.js";

const [a, b, c] = [text("test key 000"), text("test key 001"), text("test key 002")] as const;
const input = text("This is a test");
const known = "639183aae1bf4c9a35884cb46b09cad9175f04efd7684e7262a0ac1c2f0b4e3f";
const MIB = 1 << 20;
const workers = watchWorkers();
const open: product.RandomX[] = [];

/** A message to a worker. */
interface Sent {
  operation?: string;
  args?: unknown;
}

async function create(options: product.CreateOptions): Promise<product.RandomX> {
  const randomx = await AnyRandomX.create(options);
  open.push(randomx);
  return randomx;
}

/** Returns the keys of the held caches, in the order of their slots. */
function held(randomx: product.RandomX): string[] {
  const decoder = new TextDecoder();
  return randomx.stats().slots.map(({ key }) => decoder.decode(key));
}

/** Returns whether a call fills a cache. */
async function fills(randomx: product.RandomX, call: () => Promise<unknown>): Promise<boolean> {
  const before = randomx.stats().caches.count;
  await call();
  return randomx.stats().caches.count > before;
}

/** Watches a worker's messages. Returns a function that returns the slots that it was asked to release. */
function watchReleases(worker: (typeof workers)[number]): () => unknown[] {
  const post = vi.spyOn(worker, "postMessage");
  return () =>
    (post.mock.calls as unknown as [Sent][]).flatMap(([{ operation, args }]) =>
      operation === "release" ? [args] : [],
    );
}

/** Waits until all workers have started. */
async function started(randomx: product.RandomX): Promise<void> {
  await eventually(() => {
    expect(randomx.stats().workers.started).toBe(randomx.configuration.threads);
  });
}

afterEach(() => {
  for (const randomx of open.splice(0)) randomx.dispose();
  workers.length = 0;
});

describe.each([
  ["shared by two workers", { threads: 2 }],
  ["of a lone worker", { threads: 1, features: { sharedMemory: false } }],
])("caches, %s", (_, options) => {
  // The quick tests use shared memory, as nearly all users do.
  const test = options.threads === 2 ? quickTest : fullTest;

  test("of two keys are held; the least recently used is replaced", async () => {
    const randomx = await create({ ...options, slots: 2 });
    const hash = async (key: Uint8Array): Promise<string> =>
      bytesToHex(await randomx.hash(key, input));
    expect(await hash(a)).toBe(known);
    const other = await hash(b);
    expect(held(randomx)).toEqual(["test key 000", "test key 001"]);
    expect(await fills(randomx, () => hash(a))).toBe(false);
    await randomx.prepare(c);
    expect(held(randomx)).toEqual(["test key 000", "test key 002"]);
    expect(await hash(a)).toBe(known);
    expect(await hash(b)).toBe(other);
    expect(held(randomx)).toEqual(["test key 000", "test key 001"]);
    expect(randomx.stats()).toMatchObject({ caches: { count: 4 }, hashes: { count: 5 } });
    await randomx.prepare(a);
    await randomx.prepare(c);
    expect(held(randomx)).toEqual(["test key 000", "test key 002"]);
  });

  test("are released after the work in progress", async () => {
    const randomx = await create({ ...options, slots: 2 });
    await randomx.prepare(a);
    expect(randomx.stats().cacheBytes).toBeGreaterThan(256 * MIB);
    const order: string[] = [];
    const note = (name: string) => () => order.push(name);
    const hashing = randomx.hashMany(a, Array<Uint8Array>(20).fill(input));
    const released = randomx.release(a).then(note("release"));
    const after = randomx.hash(a, input);
    const hashes = await hashing.finally(note("hashes"));
    expect(new Set(hashes.map(bytesToHex))).toEqual(new Set([known]));
    await released;
    expect(bytesToHex(await after)).toBe(known);
    expect(order).toEqual(["hashes", "release"]);
    expect(randomx.stats().caches.count).toBe(2);
    await randomx.release(a);
    await randomx.release(b);
    expect(randomx.stats()).toMatchObject({ slots: [], cacheBytes: 0 });
    expect(bytesToHex(await randomx.hash(a, input))).toBe(known);
  });

  test("are released at once by workers that have nothing else to do", async () => {
    const randomx = await create(options);
    await started(randomx);
    const released = workers.map(watchReleases);
    await randomx.hash(a, input);
    await randomx.release(a);
    await eventually(() => {
      expect(released.flatMap((calls) => calls())).toContainEqual({ slot: 0 });
    });
    expect(randomx.stats()).toMatchObject({ slots: [], cacheBytes: 0 });
  });

  test("whose fills are aborted take no memory", async () => {
    const randomx = await create({ ...options, slots: 3 });
    await started(randomx);
    const released = workers.map(watchReleases);
    for (const [index, key] of [a, b, c].entries()) {
      await abortFill(randomx, key);
      await eventually(() => {
        expect(released.flatMap((calls) => calls())).toHaveLength(index + 1);
        expect(randomx.stats()).toMatchObject({ cacheBytes: 0, workers: { busy: 0 } });
      });
    }
    expect(bytesToHex(await randomx.hash(a, input))).toBe(known);
  });

  test("are lost with the last worker, and filled again", async () => {
    const randomx = await create({ ...options, threads: 1, slots: 2 });
    await randomx.prepare(a);
    await randomx.prepare(b);
    await workers[0]?.terminate();
    expect(bytesToHex(await randomx.hash(a, input))).toBe(known);
  });
});

quickTest(
  "a busy worker lets go of a released cache although its slot has another one",
  async () => {
    const randomx = await create({ engine: "jit", threads: 2, slots: 2, lanes: 1 });
    const inputs = Array<Uint8Array>(16).fill(input);
    await randomx.prepare(a);
    await started(randomx);
    await randomx.hashMany(a, inputs);
    await randomx.prepare(b);
    const released = workers.map(watchReleases);
    // One worker hashes all of these. The other one fills.
    const measuring = randomx.measure(b, inputs);
    await randomx.release(a);
    await Promise.all([randomx.prepare(c), measuring]);
    await eventually(() => {
      expect(released.map((calls) => calls())).toEqual([[{ slot: 0 }], [{ slot: 0 }]]);
    });
    expect(held(randomx)).toEqual(["test key 002", "test key 001"]);
  },
);

quickTest("a fill does not delay hashes with a held key", async () => {
  const randomx = await create({ threads: 2, slots: 2 });
  await randomx.hashMany(a, Array<Uint8Array>(8).fill(input));
  const order: string[] = [];
  await Promise.all([
    randomx.prepare(b).then(() => order.push("next key")),
    randomx.hash(a, input).then(() => order.push("hash")),
  ]);
  expect(order).toEqual(["hash", "next key"]);
});

fullTest("work in progress finishes before its cache is replaced", async () => {
  const randomx = await create({ threads: 2, slots: 2 });
  await randomx.prepare(a);
  await randomx.prepare(b);
  const inputs = Array<Uint8Array>(8).fill(input);
  const [first, second] = await Promise.all([
    randomx.hashMany(a, inputs),
    randomx.hashMany(b, inputs),
    randomx.prepare(c),
    randomx.prepare(text("test key 003")),
  ]);
  expect(new Set(first.map(bytesToHex))).toEqual(new Set([known]));
  expect(new Set(second.map(bytesToHex)).size).toBe(1);
  // If hashing took longer than filling c, the last key took c's slot. Now c takes that of the key used earlier.
  await randomx.prepare(c);
  expect(held(randomx).sort()).toEqual(["test key 002", "test key 003"]);
});

quickTest("aborting a fill leaves the other slots unchanged", async () => {
  const randomx = await create({ threads: 2, slots: 2 });
  await randomx.prepare(a);
  await abortFill(randomx, b);
  expect(await fills(randomx, () => randomx.hash(a, input))).toBe(false);
  await randomx.prepare(b);
  expect(held(randomx)).toEqual(["test key 000", "test key 001"]);
});
