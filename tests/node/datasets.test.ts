/** Datasets that cannot be built, with an add-on that a test makes up. */
import { afterEach, expect, test, vi } from "vitest";
import type { Addon } from "../../wasm/js/native/addon.js";
import { NativeSession } from "../../wasm/js/native/session.js";
import { control, text } from "./support.js";

let now = 0;
let isShort = true;
let begun = 0;
let freed = 0;

const addon = {
  Cache: { find: () => ({ free: () => undefined }) },
  Dataset: {
    begin: () => {
      begun += 1;
      const progress = (): number => {
        if (isShort) throw new Error("no memory");
        return 1;
      };
      const free = (): void => {
        freed += 1;
      };
      return { progress, free };
    },
  },
  Vm: class {
    setCache(): void {
      // Each hash is zero.
    }
    setDataset(): void {
      // Each hash is zero.
    }
    hashMany(_: number, inputs: Uint8Array[]): Uint8Array {
      return new Uint8Array(32 * inputs.length);
    }
  },
} as unknown as Addon;

afterEach(() => {
  vi.restoreAllMocks();
});

test("a dataset that could not be built is begun again after a minute", async () => {
  vi.spyOn(performance, "now").mockImplementation(() => now);
  const setting = { lanes: 1, mode: "auto", datasets: 1, isFiller: false } as const;
  const session = new NativeSession(addon, setting, () => Promise.resolve());
  await session.fill({ slot: 0, key: text("key"), memory: undefined }, control());
  const mode = (): string => {
    session.hash({ slot: 0, version: 1, inputs: [text("input")], engine: "native" });
    return session.mode(0);
  };
  expect(mode()).toBe("light");
  isShort = false;
  now += 59_000;
  expect(mode()).toBe("light");
  expect([begun, freed]).toEqual([1, 1]);
  now += 2000;
  expect(mode()).toBe("fast");
  expect([begun, freed]).toEqual([2, 1]);
});
