/** The synchronous interface: it loads itself in Node, hashes, and refuses released objects. */
import { bytesToHex } from "@noble/hashes/utils.js";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type * as product from "../../wasm/js/sync.js";
import { isFull, readVectors, text, type HashVector } from "./support.js";

const built = new URL("../../wasm/dist/js/sync.js", import.meta.url);
const { Cache, RandomXError, Vm, calculateCommitment, createVm, initCache, load } = (await import(
  built.href
)) as typeof product;

const { vectors } = readVectors("reference-hashes") as { vectors: HashVector[] };
const key = text("test key 000");
const input = text("This is a test");
const known = "639183aae1bf4c9a35884cb46b09cad9175f04efd7684e7262a0ac1c2f0b4e3f";

let cache = initCache(key);
afterAll(() => {
  cache.release();
});

test("hashes without a call of load", () => {
  const vm = createVm(cache);
  expect(bytesToHex(vm.calculateHash(input))).toBe(known);
  expect(["jit", "interpreter"]).toContain(vm.engine);
  vm.release();
  expect(() => vm.calculateHash(input)).toThrow("vm: it was released");
});

describe("the vectors of a key", () => {
  const [first] = vectors;
  const chosenFor = (version: number): HashVector[] =>
    vectors.filter((each) => each.version === version && each.key === first?.key);

  beforeAll(() => {
    cache = initCache(first?.key ?? "", cache);
  });

  describe.each(["jit", "interpreter"] as const)("%s", (engine) => {
    test.each([1, 2] as const)("hashes those of version %d, together and alone", (version) => {
      const chosen = chosenFor(version);
      using vm = createVm(cache, { version, engine });
      expect(vm.engine).toBe(engine);
      const hashes = vm.calculateHashes(chosen.map((each) => each.input)).map(bytesToHex);
      expect(hashes).toEqual(chosen.map(({ hash }) => hash));
      for (const { input, hash } of chosen.slice(0, 2)) {
        expect(bytesToHex(vm.calculateHash(input))).toBe(hash);
      }
    });
  });

  test.each(isFull ? [1, 2, 4, 8] : [1, 8])("%d lanes compute the same hashes", (lanes) => {
    const chosen = chosenFor(2).slice(0, 7);
    using vm = createVm(cache, { version: 2, lanes });
    const hashes = vm.calculateHashes(chosen.map(({ input }) => input)).map(bytesToHex);
    expect(hashes).toEqual(chosen.map(({ hash }) => hash));
  });
});

test.each([3, 8])("the code of many hashes is collected on the way, with %d lanes", (lanes) => {
  using vm = createVm(cache, { engine: "jit", lanes });
  const inputs = Array.from({ length: 20 }, (_, index) => text(`input ${index}`));
  const construct = vi.spyOn(Reflect, "construct");
  const hashes = vm.calculateHashes(inputs);
  const collections = construct.mock.calls.filter(([made]) => made === ArrayBuffer);
  construct.mockRestore();
  for (const index of [0, 6, 8, 19]) {
    expect(hashes[index]).toEqual(vm.calculateHash(inputs[index] ?? ""));
  }
  expect(collections).toHaveLength(2);
});

test("a cache that was released, or whose memory holds another key, is refused", () => {
  const old = createVm(cache, { lanes: 1 });
  const next = initCache(key, cache);
  expect(() => old.calculateHash(input)).toThrow("cache: it was released");
  expect(() => createVm(cache)).toThrow("cache: it was released");
  cache = next;
  using vm = createVm(cache, { lanes: 1 });
  expect(bytesToHex(vm.calculateHash(input))).toBe(known);
});

test("commitments match the vectors, and loading again changes nothing", async () => {
  const { vectors } = readVectors("commitments") as {
    vectors: { input: string; hash: string; commitment: string }[];
  };
  await load(new URL("../../wasm/pkg/randomx_wasm_bg.wasm", import.meta.url));
  for (const { input, hash, commitment } of vectors) {
    expect(bytesToHex(calculateCommitment(input, hash))).toBe(commitment);
  }
});

test.each<[string, () => unknown]>([
  ["key", () => initCache("zz")],
  ["old", () => initCache("", {} as never)],
  ["cache", () => createVm({} as never)],
  ["options", () => createVm(cache, null as never)],
  ["version", () => createVm(cache, { version: 3 as never })],
  ["engine", () => createVm(cache, { engine: "fast" as never })],
  ["lanes", () => createVm(cache, { lanes: 9 })],
  ["input", () => createVm(cache).calculateHash(5 as never)],
  ["inputs", () => createVm(cache).calculateHashes("00" as never)],
  ["hash", () => calculateCommitment("", "00")],
])("names a wrong argument: %s", (name, call) => {
  expect(call).toThrow(RandomXError);
  expect(call).toThrow(new RegExp(`^${name}: `, "u"));
});

test("the classes are exported", () => {
  expect(cache).toBeInstanceOf(Cache);
  expect(createVm(cache)).toBeInstanceOf(Vm);
});
