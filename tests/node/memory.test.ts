/** A WebAssembly engine without memory for a cache or the module: this process's, limited by a flag. */
import { bytesToHex } from "@noble/hashes/utils.js";
import { setFlagsFromString } from "node:v8";
import { expect, test, vi } from "vitest";
import type * as product from "../../wasm/js/index.js";
import type * as sync from "../../wasm/js/sync.js";
import { control, loadWasm, openSession, text } from "./support.js";

const PAGES_PER_MIB = 16;
// Room for one cache and its engine, but not for two.
setFlagsFromString(`--wasm-max-mem-pages=${400 * PAGES_PER_MIB}`);

const key = text("test key 000");
const input = text("This is a test");
const engine = "interpreter";

test("without memory for the cache: a typed error, and the session stays usable", async () => {
  const session = openSession();
  setFlagsFromString(`--wasm-max-mem-pages=${200 * PAGES_PER_MIB}`);
  const error = expect.objectContaining({
    code: "out-of-memory",
    message: expect.stringContaining("256 MiB") as string,
  }) as Error;
  for (let round = 0; round < 3; round += 1) {
    expect(() => session.allocate({ slot: 0, shared: round % 2 === 0 })).toThrow(error);
  }
  expect(session.commitment({ input: key, hash: new Uint8Array(32) })).toHaveLength(32);

  setFlagsFromString(`--wasm-max-mem-pages=${400 * PAGES_PER_MIB}`);
  session.allocate({ slot: 0, shared: false });
  await session.fill({ slot: 0, key, memory: undefined }, control());
  const hash = session.hash({ slot: 0, version: 1, inputs: [input], engine });
  expect(bytesToHex(hash)).toBe("639183aae1bf4c9a35884cb46b09cad9175f04efd7684e7262a0ac1c2f0b4e3f");
  session.release({ slot: 0 });
});

test("without memory for the VM: a typed error, until other VMs are freed", async () => {
  const { wasm } = loadWasm();
  const session = openSession();
  session.allocate({ slot: 0, shared: false });
  const memory = wasm.cacheMemory(false);
  const builder = new wasm.CacheBuilder(key, memory, 0);
  const cache = new wasm.Cache(memory, builder.items(), 1);
  const vms: { free: () => void }[] = [];
  const fillUp = (): void => {
    for (;;) vms.push(new wasm.Vm(cache, 8, false, 0));
  };
  expect(fillUp).toThrow(expect.objectContaining({ code: "out-of-memory" }));
  expect(vms.length).toBeGreaterThan(5);

  vms.forEach((vm) => {
    vm.free();
  });
  await session.fill({ slot: 0, key, memory: undefined }, control());
  expect(session.hash({ slot: 0, version: 1, inputs: [input], engine })).toHaveLength(32);
  session.release({ slot: 0 });
});

test("without memory for the module: a typed error, and not one about policies", async () => {
  const built = (file: string): Promise<unknown> =>
    import(new URL(`../../wasm/dist/js/${file}`, import.meta.url).href);
  const { initCache } = (await built("sync.js")) as typeof sync;
  const { RandomX } = (await built("index.js")) as typeof product;
  const error = expect.objectContaining({ code: "out-of-memory" }) as Error;

  setFlagsFromString("--wasm-max-mem-pages=1");
  await expect(RandomX.create({ engine: "jit" })).rejects.toThrow(error);
  expect(() => initCache(key)).toThrow(error);
  setFlagsFromString(`--wasm-max-mem-pages=${400 * PAGES_PER_MIB}`);

  const refusing = vi.spyOn(WebAssembly, "Instance").mockImplementation(function () {
    throw new RangeError("no memory");
  });
  expect(() => initCache(key)).toThrow(error);
  refusing.mockRestore();
});
