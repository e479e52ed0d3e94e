/** The calls of pools' add-ons: blocking, with a callback, by `require`, and with wrong arguments. */
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { afterAll, afterEach, describe, expect, test, vi } from "vitest";
import { WasmHasher } from "../../wasm/js/hasher.js";
import type { Addon } from "../../wasm/js/native/addon.js";
import type * as product from "../../wasm/js/pool.js";
import {
  ENGINES,
  NATIVE,
  hasAddon,
  isFull,
  readVectors,
  type Block,
  type HashVector,
} from "./support.js";

const script = new URL("../../wasm/dist/js/pool.js", import.meta.url);
const pool = (await import(script.href)) as typeof product;
const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), "randomx-pool-"));

const { vectors } = readVectors("reference-hashes") as { vectors: HashVector[] };
const { seed_hash, shares } = readVectors("mainnet-shares") as {
  seed_hash: string;
  shares: Block[];
};
const known: HashVector[] = [
  ...vectors.filter(({ key }) => key.length === 64).slice(0, 4),
  ...shares
    .slice(0, 2)
    .map(
      (each) =>
        ({ version: 1, key: seed_hash, input: each.hashing_blob, hash: each.pow_hash }) as const,
    ),
];
const given = known.map(({ key, input, hash, version }) => ({
  seed: Buffer.from(key, "hex"),
  input: Buffer.from(input, "hex"),
  hash,
  algorithm: version === 1 ? (0 as const) : (-2 as const),
})) as [Given, ...Given[]];

/** A known hash, as arguments of a call. */
interface Given {
  seed: Buffer;
  input: Buffer;
  hash: string;
  algorithm: 0 | -2;
}

/** Hashes with a callback. */
function later(input: Buffer, seed: Buffer, algorithm: product.Algorithm): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    pool.randomx(input, seed, algorithm, (error, hash) => {
      if (hash) resolve(hash);
      else reject(error ?? new Error("neither a hash nor an error"));
    });
  });
}

afterEach(() => {
  pool.configure({});
  pool.setRandomxCacheSize(2);
});

afterAll(() => {
  rmSync(folder, { recursive: true });
});

test("there are vectors of both versions, and of two seed hashes", () => {
  expect(new Set(known.map(({ version }) => version))).toEqual(new Set([1, 2]));
  expect(new Set(known.map(({ key }) => key)).size).toBe(2);
});

describe.each(ENGINES)("a pool's calls, %s", (_, engine) => {
  test("return the hashes of the reference, blocking and with a callback", async () => {
    const { engine: name, nativeUrl } = engine;
    pool.configure({ engine: name === "auto" ? "jit" : name, nativeUrl, threads: 1 });
    // The quick tests replace caches with native code, which fills them in a fifth of the time.
    pool.setRandomxCacheSize(isFull || name === "native" ? 1 : 2);
    for (const { input, seed, algorithm, hash } of given) {
      expect(pool.randomx(input, seed, algorithm).toString("hex")).toBe(hash);
    }
    const hashes = await Promise.all(
      given.map(({ input, seed, algorithm }) => later(input, seed, algorithm)),
    );
    expect(hashes.map((hash) => hash.toString("hex"))).toEqual(given.map(({ hash }) => hash));
    for (const { input, seed, algorithm, hash } of given.slice(0, 2)) {
      expect(pool.randomx(input, seed, algorithm === 0 ? "rx/0" : "rx/2")).toEqual(
        Buffer.from(hash, "hex"),
      );
    }
  });
});

test.runIf(hasAddon)(
  "a seed hash that is prepared off the event loop is not filled again",
  async () => {
    pool.configure({ ...NATIVE, threads: 1 });
    const [{ input, seed, hash, algorithm }] = given;
    await pool.prepare(seed);
    const { createRequire } = await import("node:module");
    const addon = createRequire(import.meta.url)(fileURLToPath(NATIVE.nativeUrl)) as Addon;
    const fills = vi.spyOn(addon, "CacheBuilder");
    const before = addon.cacheCount();
    expect(pool.randomx(input, seed, algorithm).toString("hex")).toBe(hash);
    expect(fills).not.toHaveBeenCalled();
    fills.mockRestore();
    expect(addon.cacheCount()).toBe(before);
  },
);

test("the memory of a cache that is dropped is collected", () => {
  const hasher = new WasmHasher("interpreter");
  const construct = vi.spyOn(Reflect, "construct");
  const collections = (): number =>
    construct.mock.calls.filter(([made]) => made === ArrayBuffer).length;
  hasher.hash(Buffer.alloc(32), 1, Buffer.alloc(76), 1);
  expect(collections()).toBe(0);
  if (isFull) hasher.hash(Buffer.alloc(32, 1), 1, Buffer.alloc(76), 1);
  expect(collections()).toBe(isFull ? 1 : 0);
  hasher.free();
  expect(collections()).toBe(isFull ? 2 : 1);
  construct.mockRestore();
});

test("wrong arguments are errors that name them", () => {
  const [input, seed] = [Buffer.from("00", "hex"), Buffer.alloc(32)];
  const calls: [unknown[], string][] = [
    [[], "input"],
    [[input], "seedHash"],
    [[null, seed], "input"],
    [[input, Buffer.alloc(31)], "seedHash: expected 32 bytes"],
    [[input, seed, 17], "algorithm: expected 0, -2, rx/0 or rx/2"],
    [[input, seed, "rx/wow"], "algorithm"],
    [[input, seed, null], "algorithm"],
    [[input, seed, 0, 5], "callback: expected a function"],
    [[new Uint8Array((1 << 20) + 1), seed], "input"],
  ];
  const hash = pool.randomx as (...given: unknown[]) => unknown;
  for (const [args, message] of calls) expect(() => hash(...args)).toThrow(message);
  const sizes: unknown[] = [0, 4, "2", NaN, undefined];
  for (const size of sizes) {
    expect(() => {
      pool.setRandomxCacheSize(size as number);
    }).toThrow("size: expected a whole number from 1 to 3");
  }
  pool.setRandomxCacheSize(3);
  expect(pool.getRandomxCacheSize()).toBe(3);
  const options = { engine: "interpretor", maxQueue: 0, nativeUrl: 5, threads: 25 };
  for (const [name, value] of Object.entries(options)) {
    expect(() => {
      pool.configure({ [name]: value });
    }).toThrow(`${name}: expected`);
  }
});

test("an error of the threads reaches the callback, and a later call starts anew", async () => {
  const nativeUrl = pathToFileURL(join(folder, "nowhere.node"));
  pool.configure({ engine: "native", nativeUrl });
  const [{ input, seed, algorithm }] = given;
  await expect(later(input, seed, algorithm)).rejects.toMatchObject({ code: "unsupported" });
  expect(() => pool.randomx(input, seed)).toThrow(
    expect.objectContaining({
      code: "unsupported",
      message: expect.stringContaining("nowhere.node") as string,
    }),
  );
  pool.configure({ engine: "interpreter", threads: 1 });
  expect(await later(input, seed, algorithm)).toHaveLength(32);
});

test("CommonJS requires it where Node can, and the process ends by itself", async () => {
  const [{ input, seed, hash, algorithm }] = given;
  const program = `
    const hashing = require(${JSON.stringify(fileURLToPath(script))});
    hashing.configure(${JSON.stringify({ ...(hasAddon ? NATIVE : {}), threads: 1 })});
    const args = [Buffer.from("${input.toString("hex")}", "hex"), Buffer.from("${seed.toString("hex")}", "hex")];
    console.log(hashing.randomx(...args, ${algorithm}).toString("hex"));
    hashing.randomx(...args, ${algorithm}, (error, hash) => console.log(error ?? hash.toString("hex")));
  `;
  const file = join(folder, "pool.cjs");
  writeFileSync(file, program);
  const { stdout } = await run(process.execPath, [file]);
  expect(stdout).toBe(`${hash}\n${hash}\n`);
  // The exports of the package name the same file.
  const { exports } = JSON.parse(
    readFileSync(new URL("../../wasm/package.json", import.meta.url), "utf8"),
  ) as { exports: Record<string, { default: string }> };
  expect(exports["./pool"]?.default).toBe("./dist/js/pool.js");
});
