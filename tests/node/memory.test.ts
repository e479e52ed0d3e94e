/** A WebAssembly engine that has no memory for a cache: this process's, limited by its flag. */
import { bytesToHex } from "@noble/hashes/utils.js";
import { setFlagsFromString } from "node:v8";
import { expect, test } from "vitest";
import { control, loadWasm, openSession, text } from "./support.js";

const PAGES_PER_MIB = 16;
// Room for one cache and its machine, not for two.
setFlagsFromString(`--wasm-max-mem-pages=${400 * PAGES_PER_MIB}`);

const key = text("test key 000");
const input = text("This is a test");
const machine = { engine: "interpreter", copies: 1 } as const;

test("no memory for the cache: a typed error; the session works when there is some again", async () => {
  const { wasm } = loadWasm();
  const session = openSession();
  const taken = new wasm.CacheBuilder(text("another"));

  const error = { code: "out-of-memory", message: expect.stringContaining("256 MiB") as string };
  for (let round = 0; round < 3; round += 1) {
    await expect(session.fill({ key, memory: undefined }, control())).rejects.toMatchObject(error);
  }
  expect(session.seedHeight({ height: 2113 })).toBe(2048);

  taken.free();
  await session.fill({ key, memory: undefined }, control());
  const hashes = session.hash({ version: 1, inputs: [{ bytes: input }], machine });
  expect(hashes.map(({ hash }) => bytesToHex(hash))).toEqual([
    "639183aae1bf4c9a35884cb46b09cad9175f04efd7684e7262a0ac1c2f0b4e3f",
  ]);
  session.release();
});

test("no memory for the machine: a typed error, and the cache is given back", async () => {
  const { wasm } = loadWasm();
  const session = openSession();
  const machines: { free: () => void }[] = [];
  const cache = new wasm.CacheBuilder(key).finish();
  const fillUp = (): void => {
    for (;;) machines.push(new wasm.Vm(cache, 8));
  };
  expect(fillUp).toThrow(expect.objectContaining({ code: "out-of-memory" }));
  expect(machines.length).toBeGreaterThan(5);

  machines.forEach((vm) => {
    vm.free();
  });
  cache.free();
  await session.fill({ key, memory: undefined }, control());
  session.release();
});
