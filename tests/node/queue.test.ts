/** The limits of the queue, inputs from iterables, progress, and aborting. */
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import type * as product from "../../wasm/js/index.js";
import { MAINNET_GENESIS } from "../../wasm/js/index.js";
import { LEAST, madeChain, whole } from "./monero/support.js";
import { AnyRandomX as RandomX, eventually, fullTest, text } from "./support.js";

const key = text("test key 000");
const inputs = Array.from({ length: 20 }, (_, index) => text(`input ${index}`));
const open: product.RandomX[] = [];

async function create(options?: product.CreateOptions): Promise<product.RandomX> {
  const randomx = await RandomX.create({ threads: 1, ...options });
  open.push(randomx);
  return randomx;
}

async function collect<T>(values: AsyncIterable<T>): Promise<T[]> {
  const collected: T[] = [];
  for await (const value of values) collected.push(value);
  return collected;
}

afterEach(() => {
  for (const randomx of open.splice(0)) randomx.dispose();
});

describe("the queue", () => {
  test("is bounded in inputs, reports what waits, and accepts more later", async () => {
    const randomx = await create({ maxQueue: 4 });
    const most = randomx.hashMany(key, inputs.slice(0, 4));
    expect(randomx.stats().queue).toEqual({ requests: 1, inputs: 4, bytes: 12 + 4 * 7 });
    for (const call of [
      randomx.hash(key, "00"),
      randomx.hashMany(key, inputs),
      randomx.verifyBlock({ seedHash: "00".repeat(32), hashingBlob: "", difficulty: 1 }),
    ]) {
      await expect(call).rejects.toMatchObject({ code: "queue-full" });
    }
    expect(await most).toHaveLength(4);
    expect(randomx.stats().queue).toEqual({ requests: 0, inputs: 0, bytes: 0 });
    expect(await randomx.hash(key, "00")).toHaveLength(32);
  });

  test("has no limit for the inputs of an iterable and the blocks of a chain, which wait", async () => {
    const randomx = await create({ maxQueue: 2, lanes: 2 });
    const others = inputs.slice(0, 2);
    const { id: key } = MAINNET_GENESIS;
    const most = randomx.hashMany(key, others);
    const hashes = collect(randomx.hashMany(key, new Set(inputs.slice(0, 5))));
    const blocks = madeChain(6);
    const options = { checkpoint: MAINNET_GENESIS, network: "regtest" } as const;
    const verifying = collect(randomx.verifyChain(blocks, options));
    const [first, streamed, verdicts] = await Promise.all([most, hashes, verifying]);
    expect(streamed).toHaveLength(5);
    expect(streamed.slice(0, 2)).toEqual(first);
    expect(verdicts.map(({ hash }) => hash?.length)).toEqual(blocks.map(() => 32));

    const again = randomx.hashMany(key, others).catch((error: unknown) => error);
    const abort = new AbortController();
    const waiting = randomx.hashMany(key, new Set(inputs), { signal: abort.signal }).next();
    const last = randomx.hashMany(key, new Set(inputs)).next();
    abort.abort();
    await expect(waiting).rejects.toMatchObject({ code: "aborted" });
    randomx.dispose();
    await expect(last).rejects.toMatchObject({ code: "disposed" });
    expect(await again).toMatchObject({ code: "disposed" });
  });

  test("has room for the later steps of a block's verification that has begun", async () => {
    const randomx = await create({ maxQueue: 1 });
    const [{ block_blob, hashing_blob, seed_hash } = { seed_hash: "" }] = whole;
    const others: Promise<Uint8Array>[] = [];
    const onProgress = ({ phase, done }: product.Progress): void => {
      // It waits for its cache when the block's hash is known.
      if (phase === "hash" && done === 0) others.push(randomx.hash(key, "00"));
    };
    for (const block of [{ block: block_blob }, { hashingBlob: hashing_blob }]) {
      const claims = { ...block, seedHash: seed_hash, difficulty: LEAST };
      expect(await randomx.verifyBlock(claims, { onProgress })).toMatchObject({ valid: true });
    }
    expect(await Promise.all(others)).toHaveLength(2);
  });

  test("is bounded in bytes and in calls", async () => {
    const randomx = await create({ maxQueue: 300 });
    const large = new Uint8Array(1 << 20);
    const most = [...Array<Uint8Array>(255).fill(large), large.subarray(100)];
    const hashing = randomx.hashMany(key, most);
    const [hash, claims] = ["00".repeat(32), { seedHash: "00".repeat(32), difficulty: 1 }];
    const block = new Uint8Array(1 << 20);
    for (const call of [
      randomx.hashMany(large, [large]),
      randomx.commitment(large, hash),
      randomx.release(large),
      randomx.verifyBlock({ ...claims, block }),
      randomx.verifyBlock({ ...claims, hashingBlob: block }),
      randomx.verifyBlock({ ...claims, hashingBlob: block.subarray(0, 76) }),
    ]) {
      await expect(call).rejects.toMatchObject({ code: "queue-full" });
    }
    let read = 0;
    const share = {
      ...{ blob: large, difficulty: 1 },
      get seed() {
        read += 1;
        return hash;
      },
    };
    const shares = Array<typeof share>(44).fill(share);
    expect(() => randomx.verifyShares(shares)).toThrow(/expected at most 268435456 bytes/u);
    // The others were not copied.
    expect(read).toBe(1);
    const heights = Promise.all(Array.from({ length: 299 }, (_, at) => randomx.seedHeight(at)));
    for (const call of [
      randomx.seedHeight(1),
      randomx.prepare(key),
      randomx.hashMany(key, []),
      randomx.measure(key, []),
    ]) {
      await expect(call).rejects.toMatchObject({ code: "queue-full" });
    }
    randomx.dispose();
    await expect(hashing).rejects.toMatchObject({ code: "disposed" });
    await expect(heights).rejects.toMatchObject({ code: "disposed" });
  });
});

describe("inputs of an iterable", () => {
  let randomx: product.RandomX;
  beforeAll(async () => {
    randomx = await RandomX.create({ threads: 1, lanes: 2 });
  });
  afterAll(() => {
    randomx.dispose();
  });

  fullTest("get the same hashes as an array, in order, at any pace", async () => {
    const together = await randomx.hashMany(key, inputs);
    async function* slowly(): AsyncGenerator<Uint8Array> {
      for (const [index, input] of inputs.entries()) {
        if (index % 7 === 0) await new Promise((resolve) => setTimeout(resolve, 20));
        yield input;
      }
    }
    for (const source of [slowly(), new Set(inputs)]) {
      const hashes: Uint8Array[] = [];
      for await (const hash of randomx.hashMany(key, source)) hashes.push(hash);
      expect(hashes).toEqual(together);
    }
    const none = randomx.hashMany(key, new Set<string>());
    expect(await none.next()).toEqual({ done: true, value: undefined });
  });

  test("may arrive as any thenable, as with `for await`", async () => {
    const rest = [text("input 0"), text("input 1")];
    const inputs = {
      [Symbol.asyncIterator]: () => ({
        next: () => ({
          // A promise of another frame is no `Promise` here either.
          then: (resolve: (result: IteratorResult<Uint8Array>) => void) => {
            const value = rest.shift();
            resolve(value ? { value } : { value, done: true });
          },
        }),
      }),
    } as unknown as AsyncIterable<Uint8Array>;
    const hashes: Uint8Array[] = [];
    for await (const hash of randomx.hashMany(key, inputs)) hashes.push(hash);
    expect(hashes).toEqual(await randomx.hashMany(key, [text("input 0"), text("input 1")]));
  });

  test("of an array can be taken by a loop, because its type may be that of an iterable", async () => {
    const taken = (source: Iterable<product.Bytes>): Promise<Uint8Array[]> =>
      collect(randomx.hashMany(key, source));
    const together = await randomx.hashMany(key, ["00", "01"]);
    expect(await taken(["00", "01"])).toEqual(together);
    const hashes = randomx.hashMany(key, ["00", "01"] as Iterable<string>);
    expect(await hashes.next()).toEqual({ done: false, value: together[0] });
    await hashes.return();
    expect(await collect(hashes)).toEqual([]);
    // An unhandled rejection would fail the run.
    for (const [source, complaint] of [
      ["00ff", "inputs: expected an array or an iterable, got string"],
      [["zz"], "inputs[0]: expected hex digits"],
    ] as const) {
      const error = await taken(source).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ name: "RandomXError", code: "invalid-argument" });
      expect((error as Error).message).toContain(complaint);
    }
  });

  test("are read no faster than hashes are taken, and not after the loop", async () => {
    const read = vi.fn();
    const returned = vi.fn();
    function* counted(): Generator<Uint8Array> {
      try {
        for (;;) {
          read();
          yield text(`input ${read.mock.calls.length}`);
        }
      } finally {
        returned();
      }
    }
    let taken = 0;
    for await (const hash of randomx.hashMany(key, counted())) {
      expect(hash).toHaveLength(32);
      taken += 1;
      await new Promise((resolve) => setTimeout(resolve, 100));
      expect(read.mock.calls.length).toBeLessThanOrEqual(taken + 4);
      if (taken === 5) break;
    }
    expect(returned).toHaveBeenCalledOnce();
    const { length } = read.mock.calls;
    await randomx.hash(key, "00");
    expect(read.mock.calls).toHaveLength(length);
    expect(randomx.stats().queue.inputs).toBe(0);
  });

  test("have the key and the options of the call, whatever becomes of them later", async () => {
    const changing = { key: text("test key 000"), options: { version: 1 as 1 | 2 } };
    const hashes = randomx.hashMany(changing.key, new Set(["00"]), changing.options);
    changing.key.fill(0);
    changing.options.version = 2;
    expect(await collect(hashes)).toEqual([await randomx.hash(key, "00")]);
    const options = { version: 3 as 1 };
    const refused = randomx.hashMany(key, new Set(["00"]), options);
    options.version = 1;
    await expect(refused.next()).rejects.toMatchObject({ code: "invalid-argument" });
  });

  test("end with an error of the source, a wrong input, the signal, or the instance", async () => {
    const drain = async (
      source: product.Source<unknown>,
      signal?: AbortSignal,
    ): Promise<number> => {
      let count = 0;
      const hashing = randomx.hashMany(key, source as product.Source<string>, { signal });
      while (!(await hashing.next()).done) count += 1;
      return count;
    };
    const failure = new Error("no more");
    function* failing(): Generator<string> {
      yield "00";
      throw failure;
    }
    await expect(drain(failing())).rejects.toBe(failure);
    await expect(drain(new Set(["00", "zz"]))).rejects.toMatchObject({
      code: "invalid-argument",
      message: expect.stringMatching(/^inputs\[1\]: /u) as string,
    });
    const abort = new AbortController();
    const never: AsyncIterable<never> = {
      [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => undefined) }),
    };
    const waiting = drain(never, abort.signal);
    setTimeout(() => {
      abort.abort("enough");
    }, 20);
    await expect(waiting).rejects.toMatchObject({ code: "aborted", cause: "enough" });
    await expect(drain(never, abort.signal)).rejects.toMatchObject({ code: "aborted" });
    const disposed = expect(drain(new Set(inputs))).rejects.toMatchObject({ code: "disposed" });
    setTimeout(() => {
      randomx.dispose();
    }, 20);
    await disposed;
  });
});

test("iterators that wait for their source end with the instance, and close the source", async () => {
  const randomx = await create();
  const asked = vi.fn(() => new Promise<never>(() => undefined));
  const end = vi.fn();
  const source = { [Symbol.asyncIterator]: () => ({ next: asked, return: end }) };
  const options = { checkpoint: MAINNET_GENESIS, network: "regtest" } as const;
  const walks = [randomx.hashMany(key, source), randomx.verifyChain(source, options)];
  const waiting = walks.map((walk) =>
    expect(walk.next()).rejects.toMatchObject({ code: "disposed" }),
  );
  await eventually(() => {
    expect(asked).toHaveBeenCalledTimes(2);
  });
  randomx.dispose();
  await Promise.all(waiting);
  expect(end).toHaveBeenCalledTimes(2);
  const late = randomx.hashMany(key, source).next();
  await expect(late).rejects.toMatchObject({ code: "disposed" });
});

describe("creating", () => {
  test("reports loading, and can be aborted", async () => {
    const reported: product.Progress[] = [];
    const randomx = await RandomX.create({ onProgress: (progress) => reported.push(progress) });
    expect(reported).toEqual([
      { phase: "load", done: 0 },
      { phase: "load", done: 1 },
    ]);
    await randomx[Symbol.asyncDispose]();
    await expect(randomx.seedHeight(1)).rejects.toMatchObject({ code: "disposed" });
    const abort = new AbortController();
    const creating = RandomX.create({ signal: abort.signal });
    abort.abort("enough");
    await expect(creating).rejects.toMatchObject({ code: "aborted", cause: "enough" });
    await expect(RandomX.create({ signal: abort.signal })).rejects.toMatchObject({
      code: "aborted",
    });
    const late = new AbortController();
    const onProgress = ({ done }: product.Progress): void => {
      if (done === 1) late.abort("at the end");
    };
    await expect(RandomX.create({ signal: late.signal, onProgress })).rejects.toMatchObject({
      code: "aborted",
      cause: "at the end",
    });
  });
});

test("phases are reported in order, each to its end", async () => {
  const randomx = await create();
  const reported: product.Progress[] = [];
  await randomx.hashMany(key, inputs, { onProgress: (progress) => reported.push(progress) });
  const phases = reported.map(({ phase }) => phase);
  expect(phases).toEqual([...phases].sort());
  for (const phase of ["cache", "hash"]) {
    const parts = reported.filter((progress) => progress.phase === phase).map(({ done }) => done);
    expect([parts[0], parts.at(-1)]).toEqual([0, 1]);
    expect(parts).toEqual([...parts].sort((a, b) => a - b));
  }
});

test("calls that need no cache can be aborted", async () => {
  const randomx = await create();
  const preparing = randomx.prepare(key);
  const abort = new AbortController();
  const { signal } = abort;
  const calls = [
    randomx.seedHeight(1, { signal }),
    randomx.commitment("", "00".repeat(32), { signal }),
    randomx.checkDifficulty("00".repeat(32), 1, { signal }),
    randomx.release(key, { signal }),
  ].map((call) => expect(call).rejects.toMatchObject({ code: "aborted" }));
  abort.abort();
  await Promise.all(calls);
  await preparing;
  expect(await randomx.checkDifficulty("ff".repeat(32), 1)).toBe(true);
  expect(await randomx.checkDifficulty("ff".repeat(32), 2)).toBe(false);
});
