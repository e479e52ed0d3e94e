/** Calls of the native add-on and of a session, without the package, which checks and copies arguments before. */
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { bytesToHex } from "@noble/hashes/utils.js";
import { expect, test as testAll } from "vitest";
import { asRandomXError } from "../../wasm/js/errors.js";
import type { Addon, Vm } from "../../wasm/js/native/addon.js";
import { NativeSession } from "../../wasm/js/native/session.js";
import { ADDON, hasAddon, text } from "./support.js";

const key = text("test key 000");
const input = text("This is a test");
const known = "639183aae1bf4c9a35884cb46b09cad9175f04efd7684e7262a0ac1c2f0b4e3f";
const test = testAll.runIf(hasAddon);
const addon = hasAddon && (createRequire(import.meta.url)(fileURLToPath(ADDON)) as Addon);

/** Returns the exports of the add-on. */
function exported(): Addon {
  if (!addon) throw new Error("there is no add-on");
  return addon;
}

/** Returns what a call throws. */
function thrownBy(call: () => unknown): unknown {
  try {
    call();
  } catch (error) {
    return error;
  }
  throw new Error("the call returned");
}

/** Runs a test with a VM, and frees what it holds. */
function withVm(run: (vm: Vm) => void): void {
  const { CacheBuilder, Vm } = exported();
  const cache = new CacheBuilder(key).finish(false);
  const vm = new Vm(cache, 2);
  run(vm);
  vm.free();
  cache.free();
}

test("an argument of another type has the code invalid-argument", () => {
  const { CacheBuilder, commitment } = exported();
  const builder = new CacheBuilder(key);
  const wrong: unknown = "1";
  for (const call of [
    () => new CacheBuilder(wrong as Uint8Array),
    () => commitment(input, wrong as Uint8Array),
    () => builder.fill(wrong as number),
    () => builder.finish(wrong as boolean),
  ]) {
    const thrown = thrownBy(call);
    expect(thrown).toBeInstanceOf(Error);
    expect(asRandomXError(thrown)).toMatchObject({ code: "invalid-argument", cause: thrown });
  }
  builder.free();
});

test("another version or an input of another type is refused", () => {
  withVm((vm) => {
    for (const version of [0, 3, 1.5, 257, 2 ** 32 + 1, NaN]) {
      const message = `version: expected 1 or 2, got ${String(version)}`;
      expect(thrownBy(() => vm.hashMany(version, [input]))).toMatchObject({
        code: "invalid-argument",
        message,
      });
    }
    const inputs = [input, "1" as unknown as Uint8Array];
    expect(thrownBy(() => vm.hashMany(1, inputs))).toMatchObject({
      code: "invalid-argument",
      message: "inputs[1]: expected a Uint8Array, got another value",
    });
    // Nothing is allocated for the length alone.
    expect(thrownBy(() => vm.measure(1, new Array<Uint8Array>(2 ** 32 - 1)))).toMatchObject({
      message: "inputs[0]: expected a Uint8Array, got another value",
    });
  });
});

test("an input whose memory a later one takes away is hashed as it was", () => {
  withVm((vm) => {
    const first = Uint8Array.from(input);
    const inputs = [first, input];
    Object.defineProperty(inputs, 1, {
      get: () => {
        structuredClone(first, { transfer: [first.buffer] });
        return input;
      },
    });
    expect(bytesToHex(vm.hashMany(1, inputs))).toBe(known + known);
    expect(first.length).toBe(0);
  });
});

test("one array can be both arguments of a commitment", () => {
  const hash = new Uint8Array(32);
  const { commitment } = exported();
  expect(commitment(hash, hash)).toEqual(commitment(hash, new Uint8Array(32)));
});

test("a worker fills a cache that it was to share, if the last holder has died", async () => {
  const setting = { givenLanes: 1, mode: "light", datasets: 0, isFiller: false } as const;
  const session = new NativeSession(exported(), setting, () => Promise.resolve());
  const gone = { key, memory: undefined, items: undefined, id: 2 ** 32 - 1 };
  await session.attach({ slot: 0, cache: gone });
  const hash = session.hash({ slot: 0, version: 1, inputs: [input], engine: "native" });
  expect(bytesToHex(hash)).toBe(known);
  session.release({ slot: 0 });
});

test("what was taken or freed is refused by name", () => {
  const { CacheBuilder, Vm } = exported();
  const builder = new CacheBuilder(key);
  const cache = builder.finish(false);
  expect(thrownBy(() => builder.finish(false))).toMatchObject({
    message: "cache: expected one that is being filled, got one that was taken or freed",
  });
  const vm = new Vm(cache, 1);
  vm.free();
  expect(thrownBy(() => vm.hashMany(1, [input]))).toMatchObject({
    message: "vm: expected one in use, got one that was freed",
  });
  cache.free();
  expect(thrownBy(() => new Vm(cache, 1))).toMatchObject({
    message: "cache: expected one in use, got one that was freed",
  });
});
