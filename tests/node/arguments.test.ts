/** Hostile arguments: every public call fails with a `RandomXError`, whatever it is given. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type * as product from "../../wasm/js/index.js";
import { MoneroNode } from "../../wasm/js/monero/node.js";
import * as sync from "../../wasm/js/sync.js";
import { RandomX, RandomXError, text } from "./support.js";

const MIB = 1 << 20;
const hash = "00".repeat(32);
const node = "http://127.0.0.1:1";
const block = { seedHash: hash, hashingBlob: "00", difficulty: 1 };
let randomx: product.RandomX;

beforeAll(async () => {
  randomx = await RandomX.create({ threads: 1 });
});
afterAll(() => {
  randomx.dispose();
});

/** Objects that throw when they are read in some way, made anew for each call. */
const hostile: Record<string, () => unknown> = {
  "a revoked Proxy of an object": () => revoked({}),
  "a revoked Proxy of an array": () => revoked([]),
  "a revoked Proxy of bytes": () => revoked(new Uint8Array(32)),
  "a Proxy that throws a revoked Proxy": () =>
    new Proxy([], {
      get: () => {
        throw revoked({}) as Error;
      },
      has: () => {
        throw new TypeError("no");
      },
    }),
  "a Proxy of bytes": () => new Proxy(new Uint8Array(32), {}),
  "a detached buffer": () => {
    const bytes = new Uint8Array(32);
    structuredClone(bytes.buffer, { transfer: [bytes.buffer] });
    return bytes;
  },
  "bytes beyond a buffer that shrank": () => {
    // Not in the types of ES2023.
    const Resizable = ArrayBuffer as unknown as new (
      length: number,
      options: { maxByteLength: number },
    ) => ArrayBuffer & { resize: (length: number) => void };
    const buffer = new Resizable(64, { maxByteLength: 64 });
    const bytes = new Uint8Array(buffer, 32, 32);
    buffer.resize(16);
    return bytes;
  },
  "an array without a prototype": () => Object.setPrototypeOf([{}], null) as unknown,
  "an object without a prototype": () => Object.create(null) as unknown,
  "an object whose tag throws": () => ({
    get [Symbol.toStringTag](): string {
      throw new TypeError("no");
    },
  }),
};

function revoked(target: object): unknown {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
}

async function drain(values: AsyncIterable<unknown>): Promise<number> {
  let count = 0;
  for await (const value of values) if (value) count += 1;
  return count;
}

/** Calls that read one argument each. */
const calls: Record<string, (value: never) => unknown> = {
  "create, options": (value) => RandomX.create(value),
  "create, features": (value) => RandomX.create({ features: value }),
  "create, wasmUrl": (value) => RandomX.create({ wasmUrl: value }),
  "create, signal": (value) => RandomX.create({ signal: value }),
  "prepare, key": (value) => randomx.prepare(value),
  "prepare, options": (value) => randomx.prepare("00", value),
  "prepare, signal": (value) => randomx.prepare("00", { signal: value }),
  "hash, input": (value) => randomx.hash("00", value),
  "release, key": (value) => randomx.release(value),
  "hashMany, inputs": (value) => randomx.hashMany("00", value as product.Bytes[]),
  "hashMany, an input": (value) => randomx.hashMany("00", [value]),
  "hashMany, an input of an iterable": (value) => drain(randomx.hashMany("00", new Set([value]))),
  "measure, inputs": (value) => randomx.measure("00", value),
  "verifyBlock, block": (value) => randomx.verifyBlock(value),
  "verifyBlock, blob": (value) => randomx.verifyBlock({ ...block, block: value }),
  "verifyBlock, difficulty": (value) => randomx.verifyBlock({ ...block, difficulty: value }),
  "verifyChain, blocks": (value) => drain(randomx.verifyChain(value, { from: 1 })),
  "verifyChain, options": (value) => randomx.verifyChain([], value),
  "verifyChain, checkpoint": (value) => randomx.verifyChain([], { checkpoint: value }),
  "verifyChain, recent blocks": (value) =>
    randomx.verifyChain([], { checkpoint: { height: 1, id: hash, recent: value, seeds: value } }),
  "verifyChain, a block": (value) => drain(randomx.verifyChain([value], { from: 1 })),
  "verifyShares, shares": (value) => randomx.verifyShares(value),
  "verifyShares, a share": (value) => randomx.verifyShares([value]),
  "verifyShares, options": (value) => randomx.verifyShares([{} as product.Share], value),
  "follow, sources": (value) => randomx.follow(value),
  "follow, a source": (value) => randomx.follow([value]),
  "follow, options": (value) => randomx.follow([{ node }], value),
  "follow, anchor": (value) => randomx.follow([{ node }], { anchor: value }),
  "follow, store": (value) => randomx.follow([{ node }], { store: value }),
  "commitment, input": (value) => randomx.commitment(value, "00"),
  "checkDifficulty, hash": (value) => randomx.checkDifficulty(value, 0),
  "seedHeight, height": (value) => randomx.seedHeight(value),
  "MoneroNode, url": (value) => new MoneroNode(value),
  "MoneroNode, options": (value) => new MoneroNode(node, value),
  "MoneroNode, block": (value) => new MoneroNode(node).getBlock(value),
  "sync, key": (value) => sync.initCache(value, {} as never),
  "sync, old cache": (value) => sync.initCache("", value),
  "sync, cache": (value) => sync.createVm(value),
  "sync, input": (value) => sync.calculateCommitment(value, "00"),
  "sync, address": (value) => sync.load(value),
};

/** Whether a call may take an object. One without fields is valid as options, and as a block that is invalid itself. */
function isValid(call: string, kind: string): boolean {
  if (call === "hashMany, inputs") return kind === "a Proxy of bytes";
  const takesObjects =
    /^(?:(?:create|prepare|follow|MoneroNode), options|create, features|verifyChain, a block)$/u;
  return takesObjects.test(call) && !kind.startsWith("a revoked Proxy");
}

describe.each(Object.keys(calls))("%s", (name) => {
  test.each(Object.keys(hostile))("%s", async (kind) => {
    let thrown: unknown;
    try {
      const value = hostile[kind]?.() as never;
      const result = await calls[name]?.(value);
      if (result instanceof RandomX) result.dispose();
      if (name.startsWith("follow")) await (result as product.ChainFollower).close();
    } catch (error) {
      thrown = error;
    }
    if (thrown === undefined && isValid(name, kind)) return;
    // The tests import the sources, but `RandomX` as it is published.
    expect((thrown as Error | undefined)?.constructor.name).toBe(RandomXError.name);
  });
});

test("options that throw name the argument", async () => {
  const options = {
    get version(): 1 {
      throw new Error("no such luck");
    },
  };
  await expect(randomx.hash("00", "00", options)).rejects.toMatchObject({
    code: "invalid-argument",
    message: "options: it cannot be read: no such luck",
  });
});

test.each([
  ["blob", { blob: "zz", header: {} }],
  ["header", { blob: "00" }],
  ["header.id", { blob: "00", header: { id: "00" } }],
])("an error about a block of `MoneroNode` names its %s", async (field, wrong) => {
  const chain = randomx.verifyChain([wrong] as never, { from: 1 });
  await expect(drain(chain)).rejects.toThrow(new RegExp(`^blocks\\[0\\]\\.${field}: `, "u"));
});

test("the difficulty and the work of a chain are below 2^128, which is checked at once", () => {
  const work = 1n << 128n;
  const refused = [
    () => randomx.verifyChain([], { from: 1, fixedDifficulty: work }),
    () => randomx.follow([{ node }], { fixedDifficulty: "9".repeat(100) }),
    () => randomx.follow([{ node }], { anchor: [{ height: 0, id: hash, work }] as never }),
  ];
  for (const call of refused) expect(call).toThrow(/: expected less than 2\^128$/u);
});

test("the time of a chain leaves room for timestamps that are two hours ahead", () => {
  const chain = (now: number) => randomx.verifyChain([], { from: 1, now });
  expect(() => chain(2 ** 53 - 7201)).not.toThrow();
  expect(() => chain(2 ** 53 - 7200)).toThrow(
    /^now: expected at most 2\^53 - 7201, got 9007199254733792$/u,
  );
});

test("an option is read once", async () => {
  let reads = 0;
  using own = await RandomX.create({
    threads: 1,
    get lanes(): number {
      reads += 1;
      if (reads > 1) throw new TypeError("no");
      return 3;
    },
  });
  expect(own.configuration.lanes).toBe(3);
});

test("a progress listener that throws is not a failure of the call", async () => {
  const uncaught: unknown[] = [];
  const note = (error: unknown): void => void uncaught.push(error);
  const previous = process.listeners("uncaughtException");
  process.removeAllListeners("uncaughtException");
  process.on("uncaughtException", note);
  try {
    const onProgress = (): void => {
      throw new Error("the listener's own");
    };
    const other = await RandomX.create({ threads: 1, onProgress });
    other.dispose();
    await new Promise((resolve) => setTimeout(resolve));
  } finally {
    process.removeListener("uncaughtException", note);
    for (const listener of previous) process.on("uncaughtException", listener);
  }
  expect(uncaught).toEqual([new Error("the listener's own"), new Error("the listener's own")]);
});

test("inputs that the queue has no room for are refused before they are copied", async () => {
  const large = new Uint8Array(MIB);
  const before = process.memoryUsage().arrayBuffers;
  const hashing = randomx.hashMany(text("key"), Array<Uint8Array>(1500).fill(large));
  const taken = process.memoryUsage().arrayBuffers - before;
  await expect(hashing).rejects.toMatchObject({ code: "queue-full" });
  expect(taken).toBeLessThan(8 * MIB);
});

test("control and formatting characters are escaped in messages", () => {
  const reversed = new RandomXError("worker-failed", "a\u202eb\u2066c\u200fd\ne\u2028");
  expect(reversed.message).toBe("a\\u{202e}b\\u{2066}c\\u{200f}d\\u{a}e\\u{2028}");
  expect(() => randomx.verifyChain([], { from: 1, sample: "\u202e" as never })).toThrow(
    /^sample: expected a whole number from 1 to 1000000, got string$/u,
  );
  const features = { "\u202efast": true } as never;
  return expect(RandomX.create({ features })).rejects.toThrow("features.\\u{202e}fast: ");
});
