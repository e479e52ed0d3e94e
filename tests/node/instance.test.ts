/** Instances in Node: order of requests, engines, aborting, dying workers, and disposing. */
import { bytesToHex } from "@noble/hashes/utils.js";
import { afterEach, describe, expect, test, vi } from "vitest";
import type * as product from "../../wasm/js/index.js";
import {
  AnyRandomX,
  RandomX,
  eventually,
  fullTest,
  readVectors,
  text,
  watchWorkers,
  type Block,
  type HashVector,
} from "./support.js";

const key = text("test key 000");
const input = text("This is a test");
const workers = watchWorkers();
const open: product.RandomX[] = [];

const { vectors } = readVectors("specification-hashes") as { vectors: HashVector[] };
const known = vectors.find((each) => each.input === bytesToHex(input) && each.version === 1)?.hash;

async function create(
  options?: product.CreateOptions,
  from: typeof product.RandomX = RandomX,
): Promise<product.RandomX> {
  const randomx = await from.create(options);
  open.push(randomx);
  return randomx;
}

/** Waits until `count` workers were started, and returns the newest. */
async function newest(count: number): Promise<(typeof workers)[number]> {
  await eventually(() => {
    expect(workers.length).toBeGreaterThanOrEqual(count);
  });
  const worker = workers.at(-1);
  if (!worker) throw new Error("no worker was started");
  return worker;
}

afterEach(() => {
  for (const randomx of open.splice(0)) randomx.dispose();
  workers.length = 0;
});

describe("requests", () => {
  test("start in the order of the calls, each with its own key", async () => {
    const randomx = await create({ threads: 2 }, AnyRandomX);
    const order: number[] = [];
    const hashes = await Promise.all(
      [
        randomx.hash(key, input),
        randomx.hash("00", input, { version: 2 }),
        randomx.hash(key, input),
      ].map(async (request, index) => {
        const hash = await request;
        order.push(index);
        return bytesToHex(hash);
      }),
    );
    expect(order).toEqual([0, 1, 2]);
    expect(hashes[0]).toBe(known);
    expect(hashes[2]).toBe(known);
    expect(hashes[1]).not.toBe(known);
  });

  test("made together each get their own hash and verdict", async () => {
    const randomx = await create({ threads: 1 }, AnyRandomX);
    const inputs = Array.from({ length: 11 }, (_, index) => text(`input ${index}`));
    const together = await Promise.all(inputs.map((each) => randomx.hash(key, each)));
    expect(together).toEqual(await randomx.hashMany(key, inputs));
    const seedHash = "00".repeat(32);
    const { blocks } = readVectors("mainnet-headers") as { blocks: [Block] };
    const hashingBlob = blocks[0].hashing_blob;
    const verdicts = await Promise.all(
      [1n, 1n << 255n].map((difficulty) =>
        randomx.verifyBlock({ seedHash, hashingBlob, difficulty }),
      ),
    );
    expect(verdicts.map(({ valid }) => valid)).toEqual([true, false]);
  });

  test("with many inputs for two workers are answered in order", async () => {
    const randomx = await create({ threads: 2, lanes: 2 }, AnyRandomX);
    expect(randomx.configuration).toMatchObject({ threads: 2, lanes: 2 });
    const inputs = Array.from({ length: 11 }, (_, index) => text(`input ${index % 3}`));
    const hashes = (await randomx.hashMany(key, inputs, { version: 2 })).map(bytesToHex);
    expect(new Set(hashes).size).toBe(3);
    hashes.forEach((hash, index) => {
      expect(hash).toBe(hashes[index % 3]);
    });
    expect(workers).toHaveLength(2);
  });

  test("without inputs fill the cache, once for each key", async () => {
    const randomx = await create({ threads: 2 });
    const first: number[] = [];
    const onProgress = ({ done }: product.Progress): void => void first.push(done);
    expect(await randomx.hashMany(key, [], { onProgress })).toEqual([]);
    expect(first[0]).toBe(0);
    expect(first.at(-1)).toBe(1);
    expect(first.length).toBeGreaterThan(5);
    expect(first).toEqual([...first].sort((a, b) => a - b));
    const again: number[] = [];
    await randomx.prepare(key, { onProgress: ({ done }) => again.push(done) });
    expect(again).toEqual([1]);
    expect(await randomx.seedHeight(2113)).toBe(2048);
  });
});

test("engines and features can be chosen, and all hash the same", async () => {
  const shared = { sharedMemory: true };
  const none = { fusedMultiplyAdd: false, wideArithmetic: false, sharedMemory: false };
  for (const [options, expected] of [
    [
      { engine: "interpreter", features: shared, threads: 2 },
      { engine: "interpreter", features: shared, threads: 2 },
    ],
    [
      { engine: "jit", features: none, threads: 2 },
      { engine: "jit", features: none, threads: 1 },
    ],
    [{ engine: "jit" }, { engine: "jit" }],
  ] as const) {
    const randomx = await create(options);
    expect(randomx.configuration).toMatchObject(expected);
    expect(bytesToHex(await randomx.hash(key, input))).toBe(known);
    expect(randomx.configuration).toMatchObject(expected);
    randomx.dispose();
  }
});

test("hashes are the same while engines take turns", async () => {
  const features = { wideArithmetic: false };
  const randomx = await create({ threads: 1, engine: "auto", nativeUrl: undefined, features });
  const post = vi.spyOn(await newest(1), "postMessage");
  for (let batch = 0; batch < 4; batch += 1) {
    expect(bytesToHex(await randomx.hash(key, input))).toBe(known);
  }
  const sent = post.mock.calls as unknown as [{ operation?: string; args: { engine: string } }][];
  const batches = sent.filter(([{ operation }]) => operation === "hash");
  expect(new Set(batches.map(([{ args }]) => args.engine))).toEqual(
    new Set(["jit", "interpreter"]),
  );
});

test("measure reports the time of each phase", async () => {
  const randomx = await create();
  const times = await randomx.measure(key, [input, input], { version: 2 });
  expect(Object.keys(times)).toHaveLength(6);
  for (const [name, time] of Object.entries(times)) expect(time, name).toBeGreaterThan(0);
  expect(bytesToHex(await randomx.hash(key, input))).toBe(known);
});

describe("aborting", () => {
  test("a fill acts at once; another request for the key continues it", async () => {
    const randomx = await create();
    const abort = new AbortController();
    const reported: number[] = [];
    const onProgress = ({ done }: product.Progress): void => {
      reported.push(done);
      if (done > 0.2) abort.abort("enough");
    };
    const preparing = randomx.prepare(key, { signal: abort.signal, onProgress });
    const hashing = randomx.hash(key, input);
    await expect(preparing).rejects.toMatchObject({ code: "aborted", cause: "enough" });
    expect(reported.at(-1)).toBeLessThan(0.5);
    const { length } = reported;
    expect(bytesToHex(await hashing)).toBe(known);
    expect(reported).toHaveLength(length);
  });

  test("a fill for one request ends it, and the instance stays usable", async () => {
    const randomx = await create({ threads: 2 });
    for (let round = 0; round < 3; round += 1) {
      const abort = new AbortController();
      const onProgress = ({ done }: product.Progress): void => {
        if (done > 0) abort.abort();
      };
      const preparing = randomx.prepare(text(`${round}`), { signal: abort.signal, onProgress });
      await expect(preparing).rejects.toMatchObject({ name: "AbortError", code: "aborted" });
    }
    expect(bytesToHex(await randomx.hash(key, input))).toBe(known);
  });

  fullTest("a request ends after its current batches; the cache stays", async () => {
    const randomx = await create({ threads: 2, lanes: 1 });
    await randomx.prepare(key);
    const abort = new AbortController();
    const inputs = Array<Uint8Array>(400).fill(input);
    const hashing = randomx.hashMany(key, inputs, { signal: abort.signal });
    setTimeout(() => {
      abort.abort();
    }, 100);
    await expect(hashing).rejects.toMatchObject({ code: "aborted" });
    const onProgress = vi.fn();
    await randomx.prepare(key, { onProgress });
    expect(onProgress.mock.calls).toEqual([[{ phase: "cache", done: 1 }]]);
    expect(bytesToHex(await randomx.hash(key, input))).toBe(known);
  });

  test("at the first report of a start leaves no worker", async () => {
    const before = workers.length;
    const abort = new AbortController();
    const onProgress = (): void => {
      abort.abort();
    };
    const creating = RandomX.create({ signal: abort.signal, onProgress });
    await expect(creating).rejects.toMatchObject({ code: "aborted" });
    expect(workers).toHaveLength(before);
  });

  test("before the call prevents it", async () => {
    const randomx = await create();
    const signal = AbortSignal.abort(7);
    await expect(randomx.hash(key, input, { signal })).rejects.toMatchObject({ cause: 7 });
  });
});

describe("a worker that is killed", () => {
  test("during a batch fails it, and is replaced", async () => {
    const randomx = await create({ threads: 2, lanes: 1 });
    await randomx.prepare(key);
    const worker = await newest(2);
    const hashing = randomx.hashMany(key, Array<Uint8Array>(400).fill(input));
    setTimeout(() => void worker.terminate(), 100);
    await expect(hashing).rejects.toMatchObject({
      code: "worker-failed",
      message: "the worker is gone",
    });
    expect(bytesToHex(await randomx.hash(key, input))).toBe(known);
    await newest(3);
    expect(randomx.configuration.threads).toBe(2);
  });

  fullTest("during a fill fails the request for it, and is replaced", async () => {
    const randomx = await create({ threads: 1 });
    const onProgress = ({ done }: product.Progress): void => {
      if (done > 0.1) void workers[0]?.terminate();
    };
    const preparing = randomx.prepare(key, { onProgress });
    const other = randomx.seedHeight(5);
    await expect(preparing).rejects.toMatchObject({ code: "worker-failed" });
    expect(await other).toBe(0);
    expect(bytesToHex(await randomx.hash(key, input))).toBe(known);
    expect(workers).toHaveLength(2);
  });

  fullTest("while idle is replaced", async () => {
    const randomx = await create({ threads: 1 });
    await randomx.prepare(key);
    await workers[0]?.terminate();
    expect(bytesToHex(await randomx.hash(key, input))).toBe(known);
  });
});

describe("disposing", () => {
  test("rejects waiting and later calls, and ends the workers", async () => {
    const randomx = await create({ threads: 2 });
    await randomx.prepare(key);
    await newest(2);
    const exits = workers.map((worker) => new Promise((resolve) => worker.once("exit", resolve)));
    const pending = [
      randomx.hashMany(key, Array<Uint8Array>(200).fill(input)),
      randomx.hash("77", input),
      randomx.seedHeight(1),
    ].map((request) => expect(request).rejects.toMatchObject({ code: "disposed" }));
    await new Promise((resolve) => setTimeout(resolve, 100));
    randomx.dispose();
    randomx.dispose();
    await Promise.all([...pending, ...exits]);
    await expect(randomx.hash(key, input)).rejects.toMatchObject({ code: "disposed" });
    await expect(randomx.seedHeight(1)).rejects.toMatchObject({ code: "disposed" });
  });

  test("during a fill rejects it", async () => {
    const randomx = await create();
    const preparing = randomx.prepare("00", {
      onProgress: ({ done }) => {
        if (done > 0.1) randomx[Symbol.dispose]();
      },
    });
    await expect(preparing).rejects.toMatchObject({ code: "disposed" });
  });
});

test.each([
  [{ threads: 0 }, "threads"],
  [{ threads: 25 }, "threads"],
  [{ threads: 1.5 }, "threads"],
  [{ threads: "many" }, "threads"],
  [{ lanes: 9 }, "lanes"],
  [{ engine: "fast" }, "engine"],
  [{ wasmUrl: 5 }, "wasmUrl"],
  [{ wasmUrl: "no base.wasm" }, "wasmUrl"],
  [{ workerUrl: "http://:0" }, "workerUrl"],
  [{ features: null }, "features"],
  [{ features: { sharedMemory: 1 } }, "features.sharedMemory"],
  [{ features: { simd: true } }, "features.simd"],
])("create refuses %j", async (options, name) => {
  await expect(RandomX.create(options as never)).rejects.toMatchObject({
    code: "invalid-argument",
    message: expect.stringMatching(new RegExp(`^${name}: `, "u")) as string,
  });
  expect(workers).toHaveLength(0);
});
