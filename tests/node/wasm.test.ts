/** The exports of the WebAssembly module: errors have a code and name the argument. */
import { expect, test } from "vitest";
import { asRandomXError } from "../../wasm/js/errors.js";
import { loadWasm } from "./support.js";

const { wasm } = loadWasm();
const MIB = 1 << 20;
const hash = new Uint8Array(32);

test.each([
  [
    "a key over 1 MiB",
    () => new wasm.CacheBuilder(new Uint8Array(MIB + 1), wasm.cacheMemory(false), 0),
    /^key: .* 1048577 bytes/,
  ],
  ["an input over 1 MiB", () => wasm.commitment(new Uint8Array(MIB + 1), hash), /^input: /],
  [
    "a hash of 31 bytes",
    () => wasm.commitment(hash, hash.subarray(1)),
    /^hash: expected 32 bytes, got 31/,
  ],
])("refuses %s", (_, call, message) => {
  let thrown: unknown;
  try {
    call();
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(Error);
  expect(thrown).toMatchObject({
    code: "invalid-argument",
    message: expect.stringMatching(message) as string,
  });
  expect(asRandomXError(thrown)).toMatchObject({ name: "RandomXError", code: "invalid-argument" });
});

test("refuses wrong versions, lanes and lists", () => {
  const memory = wasm.cacheMemory(false);
  const builder = new wasm.CacheBuilder(new Uint8Array(), memory, 0);
  const cache = new wasm.Cache(memory, builder.items(), 1);
  expect(() => new wasm.Cache(memory, builder.items(), 32)).toThrow("slot: expected 0 to 31");
  for (const lanes of [0, 9, -1, 1.5, NaN, 2 ** 32 + 1]) {
    expect(() => new wasm.Vm(cache, lanes, false, 0)).toThrow(/lanes/);
  }
  expect(() => cache.items(Uint32Array.of(0, 34_078_719))).toThrow(/^numbers\[1\]: expected less/);
  expect(() => cache.items(new Uint32Array(65_537))).toThrow(/^numbers: expected at most 65536/);
  expect(cache.items(Uint32Array.of(0, 34_078_718))).toHaveLength(128);
  const vm = new wasm.Vm(cache, 1, false, 0);
  for (const version of [0, 3, 257, 1.5, NaN, 2 ** 32 + 1]) {
    expect(() => vm.hashMany(version, [hash])).toThrow(/^version: expected 1 or 2/);
  }
  expect(() => vm.hashMany(1, [hash, "00"])).toThrow("inputs[1]: expected a Uint8Array");
  expect(() => vm.hashMany(1, [hash, new Uint8Array(MIB + 1)])).toThrow(/^inputs\[1\]: /);
  expect(vm.hashMany(1, [hash])).toHaveLength(32);
  vm.free();
  cache.free();
});

test("turns a trap into worker-failed", () => {
  // (func (export "f") unreachable)
  const trap = Uint8Array.of(
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 4, 1, 0x60, 0, 0, 3, 2, 1, 0],
    ...[7, 5, 1, 1, 0x66, 0, 0, 0x0a, 5, 1, 3, 0, 0, 0x0b],
  );
  const { f } = new WebAssembly.Instance(new WebAssembly.Module(trap)).exports as {
    f: () => void;
  };
  let thrown: unknown;
  try {
    f();
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(WebAssembly.RuntimeError);
  expect(asRandomXError(thrown)).toMatchObject({ code: "worker-failed", cause: thrown });
});
