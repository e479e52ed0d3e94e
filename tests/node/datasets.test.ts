/** Datasets that cannot be built, and lanes, with an add-on that a test makes up. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Addon } from "../../wasm/js/native/addon.js";
import { NativeSession } from "../../wasm/js/native/session.js";
import { control, text } from "./support.js";

let now = 0;
let isShort = false;
let hasRoom = true;
let begun = 0;
let freed = 0;
let lanes: unknown;

const addon = {
  Cache: { find: () => ({ id: () => 0, free: () => undefined }) },
  CacheBuilder: class {
    fill(): number {
      return 1;
    }
    finish(): object {
      return { id: () => 0, free: () => undefined };
    }
    free(): void {
      // The stub owns no memory.
    }
  },
  Dataset: {
    begin: () => {
      if (!hasRoom) return null;
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
    constructor(_: unknown, given: unknown) {
      lanes = given;
    }
    setCache(): void {
      // Each hash is zero.
    }
    setDataset(): void {
      // Each hash is zero.
    }
    hashMany(_: number, inputs: Uint8Array[]): Uint8Array {
      return new Uint8Array(32 * inputs.length);
    }
    free(): void {
      // The stub owns no memory.
    }
  },
} as unknown as Addon;

/** Returns the mode of a hash. */
function modeOf(session: NativeSession): string {
  session.hash({ slot: 0, version: 1, inputs: [text("input")], engine: "native" });
  return session.mode(0);
}

beforeEach(() => {
  [isShort, hasRoom, begun, freed] = [false, true, 0, 0];
});

afterEach(() => {
  vi.restoreAllMocks();
});

test("a dataset that could not be built is begun again after a minute", async () => {
  vi.spyOn(performance, "now").mockImplementation(() => now);
  isShort = true;
  const setting = { givenLanes: 1, mode: "auto", datasets: 1, isFiller: false } as const;
  const session = new NativeSession(addon, setting, () => Promise.resolve());
  await session.fill({ slot: 0, key: text("key"), memory: undefined }, control());
  expect(modeOf(session)).toBe("light");
  isShort = false;
  now += 59_000;
  expect(modeOf(session)).toBe("light");
  expect([begun, freed]).toEqual([1, 1]);
  now += 2000;
  expect(modeOf(session)).toBe("fast");
  expect([begun, freed]).toEqual([2, 1]);
});

test("a fresh cache in fast mode is used without a dataset until there is room for its own", async () => {
  const setting = { givenLanes: 1, mode: "fast", datasets: 1, isFiller: false } as const;
  const session = new NativeSession(addon, setting, () => Promise.resolve());
  const args = { slot: 0, key: text("key"), memory: undefined };
  await session.fill(args, control());
  expect(modeOf(session)).toBe("fast");
  hasRoom = false;
  const onProgress = vi.fn();
  await session.fill({ ...args, isFresh: true }, control({ onProgress }));
  expect(onProgress.mock.calls).toEqual([[0], [1]]);
  expect(modeOf(session)).toBe("light");
  hasRoom = true;
  expect(modeOf(session)).toBe("fast");
  // Every other fill waits for room, but not for ever.
  hasRoom = false;
  vi.spyOn(performance, "now").mockImplementation(() => (now += 1000));
  await expect(session.fill(args, control())).rejects.toMatchObject({ code: "out-of-memory" });
});

test.each([undefined, 8])(
  "a VM gets the number of lanes that was given: %s",
  async (givenLanes) => {
    const setting = { givenLanes, mode: "light", datasets: 1, isFiller: false } as const;
    const session = new NativeSession(addon, setting, () => Promise.resolve());
    await session.fill({ slot: 0, key: text("key"), memory: undefined }, control());
    expect(modeOf(session)).toBe("light");
    // Without a number, the add-on measures which is fastest.
    expect(lanes).toBe(givenLanes);
  },
);
