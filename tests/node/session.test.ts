/** How a session works: fills in steps, gives way, stops, and gives memory back. */
import { bytesToHex } from "@noble/hashes/utils.js";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Session, type Control } from "../../wasm/js/session.js";
import { control, loadWasm, openSession, text } from "./support.js";

const key = text("test key 000");
const input = text("This is a test");
const known = "639183aae1bf4c9a35884cb46b09cad9175f04efd7684e7262a0ac1c2f0b4e3f";
const engine = "interpreter";
const MIB = 1 << 20;

const { wasm, memory, table } = loadWasm();
const session = openSession();
beforeEach(() => {
  session.allocate({ slot: 0, shared: false });
});
afterEach(() => {
  session.release({ slot: 0 });
});

async function fill(key: Uint8Array, given: Partial<Control> = {}): Promise<void> {
  await session.fill({ slot: 0, key, memory: undefined }, control(given));
}

function hashHex(bytes: Uint8Array): string {
  const [hashed] = session.hash({ slot: 0, version: 1, inputs: [{ bytes }], engine });
  return bytesToHex(hashed?.hash ?? new Uint8Array());
}

describe("filling", () => {
  test("tells its progress from 0 to 1, in steps of about 20 ms", async () => {
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
    expect(hashHex(input)).toBe(known);
  });

  test("lets other tasks run between steps", async () => {
    let turns = 0;
    const setting = { lanes: 8, features: wasm.detectFeatures(), place: 1 };
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
    expect(() => hashHex(input)).toThrow("there is no cache");
  });
});

describe("engines", () => {
  test("all hash the same, and the fastest one is found", async () => {
    await fill(key);
    const engines = ["interpreter", "jit"] as const;
    for (const engine of engines) {
      const inputs = Array.from({ length: 3 }, () => ({ bytes: input }));
      const hashes = session.hash({ slot: 0, version: 1, inputs, engine });
      expect(hashes.map(({ hash }) => bytesToHex(hash))).toEqual([known, known, known]);
    }
    expect(engines).toContain(session.calibrate({ engines }));
    expect(session.calibrate({ engines: [engine] })).toBe(engine);
    expect(() => session.calibrate({ engines: [] })).toThrow("there is no engine");
  });

  test("tell what they spend their time with", async () => {
    await fill(key);
    const inputs = [{ bytes: input }];
    const times = session.measure({ slot: 0, version: 1, inputs, engine });
    expect(Object.keys(times)).toHaveLength(6);
    for (const [name, time] of Object.entries(times)) expect(time, name).toBeGreaterThan(0);
  });
});

describe("memory", () => {
  test("of the machine is small, and the same for each key, key length and input length", async () => {
    const lengths = [0, 61, 1000, MIB];
    const hashAll = async (): Promise<void> => {
      for (const length of lengths) {
        const long = new Uint8Array(length).fill(length & 0xff);
        await fill(long);
        session.hash({
          slot: 0,
          version: 2,
          inputs: Array(8).fill({ bytes: long }) as never,
          engine,
        });
      }
    };
    await hashAll();
    const after = memory.buffer.byteLength;
    // Scratchpads are 16 MiB, inputs of 8 lanes 1 MiB each.
    expect(after).toBeLessThan(44 * MIB);
    await hashAll();
    expect(memory.buffer.byteLength).toBe(after);
  });

  test("fills that are aborted take nothing", async () => {
    await fill(key);
    const before = memory.buffer.byteLength;
    for (let round = 0; round < 20; round += 1) {
      const abort = new AbortController();
      const onProgress = (done: number): void => {
        if (done > 0) abort.abort();
      };
      const filling = fill(text(`aborted ${round}`), { signal: abort.signal, onProgress });
      await expect(filling).rejects.toMatchObject({ code: "aborted" });
    }
    await fill(key);
    expect(hashHex(input)).toBe(known);
    expect(memory.buffer.byteLength).toBe(before);
  });

  test("a thousand programs use the same places in the table of functions, and leave them", async () => {
    const inUse = (): number => {
      let functions = 0;
      for (let index = 0; index < table.length; index += 1) if (table.get(index)) functions += 1;
      return functions;
    };
    const before = inUse();
    await fill(key);
    const inputs = Array.from({ length: 8 }, (_, lane) => ({ bytes: text(`lane ${lane}`) }));
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
