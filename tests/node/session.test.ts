/** Sessions: filling in steps, changing keys, aborting, and freeing memory. */
import { bytesToHex } from "@noble/hashes/utils.js";
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { Session, type Control, type RandomXWasm } from "../../wasm/js/session.js";
import { createVm, initCache } from "../../wasm/js/sync.js";
import { control, fullTest, loadWasm, openSession, text } from "./support.js";

const key = text("test key 000");
const input = text("This is a test");
const known = "639183aae1bf4c9a35884cb46b09cad9175f04efd7684e7262a0ac1c2f0b4e3f";
const engine = "interpreter";
const MIB = 1 << 20;

const { wasm, memory, table } = loadWasm();
const setting = { lanes: 8, features: wasm.detectFeatures(), place: 1 };
const session = openSession();

async function fill(key: Uint8Array, given: Partial<Control> = {}): Promise<void> {
  await session.fill({ slot: 0, key, memory: undefined }, control(given));
}

/** Attaches a cache whose blocks were never computed. Its items differ by key. */
function attachEmpty(session: Session, slot: number, key: Uint8Array): void {
  const memory = wasm.cacheMemory(false);
  const builder = new wasm.CacheBuilder(key, memory, setting.features);
  session.attach({ slot, cache: { key, memory, items: builder.items() } });
  builder.free();
}

function hashHex(session: Session, bytes: Uint8Array, slot = 0): string {
  return bytesToHex(session.hash({ slot, version: 1, inputs: [bytes], engine }));
}

/** Fails a fill after its first step. */
async function abortFill(key: Uint8Array): Promise<void> {
  const abort = new AbortController();
  const onProgress = (done: number): void => {
    if (done > 0) abort.abort();
  };
  await expect(fill(key, { signal: abort.signal, onProgress })).rejects.toMatchObject({
    code: "aborted",
  });
}

describe("filling", () => {
  beforeEach(() => {
    session.allocate({ slot: 0, shared: false });
  });
  afterEach(() => {
    session.release({ slot: 0 });
  });

  test("reports its progress from 0 to 1, in steps of about 20 ms", async () => {
    const times: number[] = [];
    const progress: number[] = [];
    const onProgress = (done: number): void => {
      progress.push(done);
      times.push(performance.now());
    };
    await fill(key, { onProgress });
    expect(progress[0]).toBe(0);
    expect(progress.at(-1)).toBe(1);
    expect(progress).toEqual([...progress].sort((a, b) => a - b));
    const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    const median = gaps.sort((a, b) => a - b)[gaps.length >> 1];
    expect(median).toBeGreaterThan(5);
    expect(median).toBeLessThan(60);
    expect(hashHex(session, input)).toBe(known);
  });

  test("lets other tasks run between steps", async () => {
    let turns = 0;
    const other = new Session(wasm, setting, () => {
      turns += 1;
      return Promise.resolve();
    });
    other.allocate({ slot: 0, shared: false });
    await other.fill({ slot: 0, key, memory: undefined }, control());
    expect(turns).toBeGreaterThan(10);
    other.release({ slot: 0 });
  });

  test("ends at its next pause when it is aborted, and keeps nothing", async () => {
    const free = vi.spyOn(wasm.CacheBuilder.prototype, "free");
    const abort = new AbortController();
    const reason = new Error("enough");
    const onProgress = vi.fn((done: number) => {
      if (done > 0.1) abort.abort(reason);
    });
    await expect(fill(key, { signal: abort.signal, onProgress })).rejects.toMatchObject({
      name: "AbortError",
      code: "aborted",
      cause: reason,
    });
    expect(onProgress.mock.lastCall?.[0]).toBeLessThan(0.5);
    expect(free).toHaveBeenCalledOnce();
    free.mockRestore();
    expect(() => hashHex(session, input)).toThrow("there is no cache");
  });

  test("takes no memory when it is aborted", async () => {
    await fill(text("another key"));
    const other = hashHex(session, input);
    const before = memory.buffer.byteLength;
    for (let round = 0; round < 20; round += 1) await abortFill(text(`aborted ${round}`));
    await fill(key);
    expect(hashHex(session, input)).toBe(known);
    expect(other).not.toBe(known);
    expect(memory.buffer.byteLength).toBe(before);
  });
});

describe("engines", () => {
  beforeAll(async () => {
    session.allocate({ slot: 0, shared: false });
    await fill(key);
    return () => {
      session.release({ slot: 0 });
    };
  });

  test("all hash the same, and the time is measured", () => {
    const engines = ["interpreter", "jit"] as const;
    for (const engine of engines) {
      const inputs = [input, input, input];
      const hashes = session.hash({ slot: 0, version: 1, inputs, engine });
      expect(bytesToHex(hashes)).toBe(known + known + known);
      expect(session.elapsed).toBeGreaterThan(0);
      const inPairs = session.hash({ slot: 0, version: 1, inputs, engine, lanes: 2 });
      expect(inPairs).toEqual(hashes);
    }
  });

  test("collect the code of hashes that are measured", () => {
    const construct = vi.spyOn(Reflect, "construct");
    const inputs = Array<Uint8Array>(8).fill(input);
    session.measure({ slot: 0, version: 1, inputs, engine: "jit" });
    const collections = construct.mock.calls.filter(([made]) => made === ArrayBuffer);
    construct.mockRestore();
    expect(collections).toHaveLength(1);
  });

  test("report how long each part takes", () => {
    const times = session.measure({ slot: 0, version: 1, inputs: [input], engine });
    expect(Object.keys(times)).toHaveLength(6);
    for (const [name, time] of Object.entries(times)) expect(time, name).toBeGreaterThan(0);
  });
});

describe("keys", () => {
  let made = 0;
  let freed = 0;

  const counting: RandomXWasm = {
    ...wasm,
    Vm: class extends wasm.Vm {
      constructor(...args: ConstructorParameters<typeof wasm.Vm>) {
        super(...args);
        made += 1;
      }

      override free(): void {
        freed += 1;
        super.free();
      }
    },
  };

  beforeEach(() => {
    made = freed = 0;
  });

  test("change without another VM, in one slot and between slots", () => {
    const other = new Session(counting, setting, () => Promise.resolve());
    attachEmpty(other, 0, text("a"));
    attachEmpty(other, 1, text("b"));
    const [a, b] = [hashHex(other, input, 0), hashHex(other, input, 1)];
    expect(a).not.toBe(b);
    expect([hashHex(other, input, 0), hashHex(other, input, 1)]).toEqual([a, b]);
    attachEmpty(other, 1, text("a"));
    expect(hashHex(other, input, 1)).toBe(a);
    attachEmpty(other, 0, text("b"));
    expect(hashHex(other, input, 0)).toBe(b);
    expect([made, freed]).toEqual([1, 0]);
    other.release({ slot: 0 });
    other.release({ slot: 1 });
  });

  test("that are released take their memory with them", () => {
    const other = new Session(counting, setting, () => Promise.resolve());
    attachEmpty(other, 0, text("a"));
    attachEmpty(other, 1, text("b"));
    const hash = hashHex(other, input, 0);
    other.release({ slot: 1 });
    expect([made, freed]).toEqual([1, 0]);
    // The VM of the slot would keep its 256 MiB alive, even after another cache was attached.
    attachEmpty(other, 0, text("a"));
    other.release({ slot: 0 });
    expect([made, freed]).toEqual([1, 1]);
    expect(() => hashHex(other, input, 0)).toThrow("there is no cache");
    attachEmpty(other, 0, text("a"));
    expect(hashHex(other, input, 0)).toBe(hash);
    expect([made, freed]).toEqual([2, 1]);
    other.release({ slot: 0 });
  });
});

describe("memory", () => {
  /** Returns the number of used places in the table. */
  const inUse = (): number => {
    let functions = 0;
    for (let index = 0; index < table.length; index += 1) if (table.get(index)) functions += 1;
    return functions;
  };

  test("of a cache without workers is released although a VM uses it", () => {
    const before = inUse();
    const cache = initCache(key);
    const vms = [createVm(cache, { lanes: 1, engine }), createVm(cache, { lanes: 1, engine })];
    expect(inUse()).toBeGreaterThan(before);
    vms[0]?.release();
    cache.release();
    expect(inUse()).toBe(before);
    for (const vm of vms) expect(() => vm.calculateHash(input)).toThrow("cache: it was released");
  });

  fullTest("of the VM is small, and the same for each key, key length and input length", () => {
    const hashAll = (): void => {
      for (const length of [0, 61, 1000, MIB]) {
        const long = new Uint8Array(length).fill(length & 0xff);
        attachEmpty(session, 0, long);
        const inputs = Array.from({ length: 8 }, () => long);
        session.hash({ slot: 0, version: 2, inputs, engine });
      }
    };
    hashAll();
    const after = memory.buffer.byteLength;
    // Scratchpads are 16 MiB, inputs of 8 lanes 1 MiB each.
    expect(after).toBeLessThan(44 * MIB);
    hashAll();
    expect(memory.buffer.byteLength).toBe(after);
    session.release({ slot: 0 });
  });

  fullTest("of generated programs is reused: a thousand use the same places in the table", () => {
    const before = inUse();
    attachEmpty(session, 0, key);
    const inputs = Array.from({ length: 8 }, (_, lane) => text(`lane ${lane}`));
    const hashAll = (): void => {
      session.hash({ slot: 0, version: 1, inputs, engine: "jit" });
    };
    hashAll();
    const [length, used] = [table.length, inUse()];
    expect(used).toBeGreaterThanOrEqual(before + 8);
    for (let round = 0; round < 16; round += 1) hashAll();
    expect([table.length, inUse()]).toEqual([length, used]);
    session.release({ slot: 0 });
    expect(inUse()).toBe(before);
  });
});
