/** Shares of a pool: verdicts, templates, targets, deadlines, priorities, and calls that are refused. */
import { bytesToHex } from "@noble/hashes/utils.js";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import type * as product from "../../wasm/js/index.js";
import { fromDifficulty, fromTarget } from "../../wasm/js/shares/target.js";
import {
  AnyRandomX,
  ENGINES,
  RandomXError,
  ShareTemplate,
  bytes,
  eventually,
  readVectors,
  text,
  watchWorkers,
  type Block,
  type HashVector,
} from "./support.js";

type Share = product.Share;

type KnownShare = Block & { nonce: number; share_difficulty: number };
const { seed_hash: seed, shares: known } = readVectors("mainnet-shares") as {
  seed_hash: string;
  shares: [KnownShare, ...KnownShare[]];
};
const { blocks } = readVectors("mainnet-blocks") as {
  blocks: [Block & { block_blob: string; seed_hash: string; nonce: number }];
};
const workers = watchWorkers();
const open: product.RandomX[] = [];

async function create(options?: product.CreateOptions): Promise<product.RandomX> {
  const randomx = await AnyRandomX.create({ threads: 1, ...options });
  open.push(randomx);
  return randomx;
}

function statuses(verdicts: product.ShareVerdict[]): string[] {
  return verdicts.map(({ status }) => status);
}

/** Returns a share of a vector. */
function share({ hashing_blob, pow_hash, share_difficulty }: KnownShare): Share {
  return { seed, blob: hashing_blob, hash: pow_hash, difficulty: share_difficulty };
}

afterEach(() => {
  for (const randomx of open.splice(0)) randomx.dispose();
  workers.length = 0;
});

describe.each(ENGINES)("shares, %s", (_, engine) => {
  let randomx: product.RandomX;
  beforeAll(async () => {
    randomx = await AnyRandomX.create({ ...engine, threads: 2, slots: 2 });
  });
  afterAll(() => {
    randomx.dispose();
  });

  test("of a pool on Monero's network are valid, by each way to write them", async () => {
    const [first] = known;
    const blank = first.hashing_blob.slice(0, 78) + "00000000" + first.hashing_blob.slice(86);
    const nonce = first.hashing_blob.slice(78, 86);
    const template = new ShareTemplate(blank);
    const shares: Share[] = [
      ...known.slice(0, 12).map(share),
      { ...share(first), blob: blank, nonce: first.nonce },
      { ...share(first), blob: blank, nonce },
      { ...share(first), blob: blank, patches: [{ offset: 39, bytes: bytes(nonce) }] },
      { ...share(first), blob: template, nonce },
      { ...share(first), blob: template, nonce: first.nonce },
    ];
    const verdicts = await Promise.all(randomx.verifyShares(shares));
    expect(new Set(statuses(verdicts))).toEqual(new Set(["valid"]));
    for (const [index, verdict] of verdicts.entries()) {
      const vector = known[index] ?? first;
      if (verdict.status !== "valid") continue;
      expect(bytesToHex(verdict.hash)).toBe(index < 12 ? vector.pow_hash : first.pow_hash);
      expect(verdict.difficulty).toBeGreaterThanOrEqual(first.share_difficulty);
    }
  });

  test("that miss their target or claim another hash are told apart", async () => {
    const given = share(known[0]);
    const [valid] = await Promise.all(randomx.verifyShares([given]));
    const difficulty = valid?.status === "valid" ? valid.difficulty : 0n;
    const other = { ...given, difficulty: undefined };
    const verdicts = await Promise.all(
      randomx.verifyShares([
        { ...given, difficulty },
        { ...given, difficulty: difficulty + 1n },
        { ...given, hash: undefined, difficulty: difficulty + 1n },
        { ...given, hash: seed },
        { ...other, target: (1n << 256n) / difficulty },
        { ...other, target: "ffffffff" },
        { ...other, target: "0100000000000000" },
        { ...other, target: given.hash },
      ]),
    );
    expect(statuses(verdicts)).toEqual(
      ["valid", "low-difficulty", "low-difficulty", "wrong-hash"].concat([
        "valid",
        "valid",
        "low-difficulty",
        "valid",
      ]),
    );
  });

  test("of several keys and both versions get the hashes of the reference", async () => {
    const { vectors } = readVectors("specification-hashes") as { vectors: HashVector[] };
    const shares = vectors.map(({ key, input, version, hash }): Share => ({
      seed: key,
      blob: input,
      version,
      hash,
      difficulty: 1,
    }));
    expect(new Set(vectors.map(({ version }) => version))).toEqual(new Set([1, 2]));
    expect(new Set(vectors.map(({ key }) => key)).size).toBeGreaterThan(1);
    const verdicts = await Promise.all(randomx.verifyShares([...shares, ...shares]));
    expect(new Set(statuses(verdicts))).toEqual(new Set(["valid"]));
  });

  test("of a block template get its hashing blob, with the nonces that differ", async () => {
    const [{ block_blob, seed_hash, pow_hash, nonce }] = blocks;
    const original = bytes(block_blob);
    const blank = original.slice().fill(0, 39, 43).fill(0, 120, 128);
    const template = new ShareTemplate(blank);
    const given = { seed: seed_hash, block: template, hash: pow_hash, difficulty: 1 };
    const patches = [{ offset: 120, bytes: original.slice(120, 128) }];
    const broken = [{ offset: 43, bytes: "ffffffffffffffffffffff" }];
    const verdicts = await Promise.all(
      randomx.verifyShares([
        { ...given, nonce, patches },
        { ...given, nonce, patches: broken },
        { ...given, nonce },
        { ...given, block: blank, nonce, patches },
        { ...given, block: block_blob },
      ]),
    );
    expect(statuses(verdicts)).toEqual(["valid", "failed", "wrong-hash", "valid", "valid"]);
    expect(verdicts[1]).toMatchObject({ error: { code: "invalid-argument" } });
  });
});

describe("a target", () => {
  const most = (1n << 256n) - 1n;

  test("has the forms that pools use", () => {
    // 2^32 / 10,000, as pools send it to miners of that difficulty.
    const top = 0xffff_ffff_ffff_ffffn / 10_000n;
    expect(fromTarget("target", "b88d0600")).toBe((top << 192n) - 1n);
    expect(fromTarget("target", "ffffffff")).toBe(most - (1n << 192n));
    expect(fromTarget("target", "0000000000000080")).toBe((1n << 255n) - 1n);
    expect(fromTarget("target", "00".repeat(31) + "80")).toBe(1n << 255n);
    expect(fromTarget("target", 5n)).toBe(5n);
    expect(fromDifficulty("difficulty", 1)).toBe(most);
    expect(fromDifficulty("difficulty", most)).toBe(1n);
  });

  test.each<[unknown, string]>([
    ["00000000", "more than 0"],
    ["", "4, 8 or 32 bytes, got 0"],
    ["ffffff", "got 3 bytes"],
    [0n, "from 1 to 2^256 - 1"],
    [most + 1n, "from 1 to 2^256 - 1"],
    [-1n, "from 1 to 2^256 - 1"],
    [1, "Uint8Array"],
    ["xy", "hex"],
  ])("is refused: %s", (value, message) => {
    expect(() => fromTarget("target", value)).toThrow(message);
  });
});

describe("a call", () => {
  const given = share(known[0]);

  test("that the queue has no room for throws, and starts nothing", async () => {
    const randomx = await create({ maxQueue: 4 });
    const waiting = randomx.verifyShares(Array<Share>(4).fill(given));
    expect(() => randomx.verifyShares([given])).toThrow(RandomXError);
    expect(() => randomx.verifyShares([given])).toThrow(/expected at most 4 inputs/u);
    expect(randomx.stats().queue.inputs).toBe(4);
    expect(statuses(await Promise.all(waiting))).toEqual(Array(4).fill("valid"));
    expect(statuses(await Promise.all(randomx.verifyShares([given])))).toEqual(["valid"]);
  });

  test("is answered one by one, a higher priority first", async () => {
    const randomx = await create({ lanes: 1 });
    await randomx.prepare(seed);
    const order: string[] = [];
    const running = randomx.verifyShares([given]);
    // The worker has the first one when the others arrive.
    await Promise.resolve();
    const priorities = ["low", undefined, "high", "low", "normal", "high"] as const;
    const waiting = randomx.verifyShares(priorities.map((priority) => ({ ...given, priority })));
    const seen = [...running, ...waiting].map(async (verdict, index) => {
      await verdict;
      order.push(index === 0 ? "running" : (priorities[index - 1] ?? "normal"));
    });
    await Promise.all(seen);
    expect(order).toEqual(["running", "high", "high", "normal", "normal", "low", "low"]);
  });

  test("expires share by share, and leaves nothing in the queue", async () => {
    const randomx = await create({ lanes: 1 });
    const before = randomx.verifyShares(Array<Share>(20).fill(given));
    const late = randomx.verifyShares([
      { ...given, timeout: 1 },
      { ...given, timeout: 600_000 },
    ]);
    expect(statuses(await Promise.all(late))).toEqual(["expired", "valid"]);
    expect(new Set(statuses(await Promise.all(before)))).toEqual(new Set(["valid"]));
    expect(randomx.stats().queue).toEqual({ requests: 0, inputs: 0, bytes: 0 });
  });

  test("that expires does not end the fill that it began", async () => {
    const randomx = await create();
    // Now there is memory, and the fill begins at once.
    await randomx.prepare("00");
    const late = randomx.verifyShares([{ ...given, timeout: 1 }]);
    expect(statuses(await Promise.all(late))).toEqual(["expired"]);
    const before = randomx.stats().slots;
    expect(before.map(({ isReady }) => isReady)).toEqual([false]);
    for (const key of ["01", seed]) {
      const stop = new AbortController();
      const other = randomx.prepare(key, { signal: stop.signal });
      stop.abort();
      await expect(other).rejects.toMatchObject({ code: "aborted" });
    }
    await eventually(() => {
      expect(randomx.stats().slots[0]?.isReady).toBe(true);
    });
    expect(randomx.stats().slots[0]?.key).toEqual(before[0]?.key);
  });

  test("that expires before the fill has memory does not end it", async () => {
    const randomx = await create();
    const [worker] = workers;
    const post = worker?.postMessage.bind(worker);
    if (!worker || !post) throw new Error("there is no worker");
    vi.spyOn(worker, "postMessage").mockImplementation((message: { operation?: string }) => {
      setTimeout(post, message.operation === "allocate" ? 100 : 0, message);
    });
    const late = randomx.verifyShares([{ ...given, timeout: 1 }]);
    expect(statuses(await Promise.all(late))).toEqual(["expired"]);
    await eventually(() => {
      expect(randomx.stats().slots[0]?.isReady).toBe(true);
    });
  });

  test("that is aborted or disposed fails without a rejection", async () => {
    const randomx = await create();
    const stop = new AbortController();
    const timed = [given, { ...given, timeout: 600_000 }];
    const stopped = randomx.verifyShares(timed, { signal: stop.signal });
    stop.abort();
    for (const verdict of await Promise.all(stopped)) {
      expect(verdict).toMatchObject({ status: "failed", error: { code: "aborted" } });
    }
    expect(() => randomx.verifyShares(timed, { signal: stop.signal })).toThrow(RandomXError);
    const ended = randomx.verifyShares(timed);
    randomx.dispose();
    for (const verdict of await Promise.all(ended)) {
      expect(verdict).toMatchObject({ status: "failed", error: { code: "disposed" } });
    }
    expect(() => randomx.verifyShares(timed)).toThrow("disposed");
  });

  test("survives the death of a worker", async () => {
    const randomx = await create();
    await randomx.prepare(seed);
    const verdicts = randomx.verifyShares(Array<Share>(200).fill(given));
    await verdicts[0];
    await workers[0]?.terminate();
    const found = statuses(await Promise.all(verdicts));
    expect(found.filter((status) => status === "failed").length).toBeGreaterThan(0);
    expect(found.filter((status) => status === "valid").length).toBeGreaterThan(100);
    expect(randomx.stats().queue).toEqual({ requests: 0, inputs: 0, bytes: 0 });
  });

  test("takes no garbage, and says which argument it was", async () => {
    const randomx = await create();
    const revoked = Proxy.revocable({}, {});
    revoked.revoke();
    const garbage: unknown[] = [null, 1.5, -1, NaN, Symbol("x"), "xy", {}, () => 0, revoked.proxy];
    const fields = Object.keys({ ...given, ...{ nonce: 0, patches: 0, target: 0, timeout: 0 } });
    for (const field of [...fields, "version", "priority", "block"]) {
      for (const value of [...garbage, [null]]) {
        const bad: Share = { ...given, [field]: value };
        const error = thrown(() => randomx.verifyShares([given, bad]));
        expect(error, `${field}: ${typeof value}`).toMatchObject({
          code: "invalid-argument",
          message: expect.stringContaining("shares[1]") as string,
        });
      }
    }
    const offsets: unknown[] = [-1, 73, 2 ** 53, 0.5, "0", undefined];
    for (const offset of offsets) {
      const patches = [{ offset, bytes: "00000000" }] as product.SharePatch[];
      expect(thrown(() => randomx.verifyShares([{ ...given, patches }]))).toMatchObject({
        code: "invalid-argument",
      });
    }
    const patches = Array<product.SharePatch>(17).fill({ offset: 0, bytes: "00" });
    const calls: unknown[] = [...garbage, [null], [[]], [{ ...given, patches }], { length: 1 }];
    for (const shares of calls) {
      expect(thrown(() => randomx.verifyShares(shares as Share[]))).toMatchObject({
        code: "invalid-argument",
      });
    }
    for (const template of garbage) {
      expect(thrown(() => new ShareTemplate(template as string))).toBeInstanceOf(Error);
    }
    for (const both of [
      { ...given, block: "00" },
      { ...given, target: "ffffffff" },
      { seed, difficulty: 1 },
      { seed, blob: "00" },
      { seed, blob: "00", nonce: 0, difficulty: 1 },
      { ...given, blob: text("a".repeat(42)), nonce: 0 },
    ]) {
      expect(thrown(() => randomx.verifyShares([both]))).toMatchObject({
        code: "invalid-argument",
      });
    }
    const short = { seed, blob: "00".repeat(20), difficulty: 1 };
    const patch = (offset: number): product.SharePatch => ({ offset, bytes: "0000" });
    for (const [changes, message] of [
      [{ nonce: 0 }, "shares[0].nonce: expected changes inside the blob, got 4 bytes at 39 of 20"],
      [
        { nonce: 0, patches: [patch(18), patch(19)] },
        "shares[0].patches[1]: expected changes inside the blob, got 2 bytes at 19 of 20",
      ],
    ] as const) {
      expect(thrown(() => randomx.verifyShares([{ ...short, ...changes }]))).toMatchObject({
        message,
      });
    }
    expect(randomx.stats()).toMatchObject({ queue: { requests: 0 }, caches: { count: 0 } });
    expect(randomx.verifyShares([])).toEqual([]);
  });
});

function thrown(call: () => unknown): unknown {
  try {
    call();
  } catch (error) {
    return error;
  }
  return undefined;
}
