/** How a session works: fills in steps, gives way, stops, and gives memory back. */
import { bytesToHex } from "@noble/hashes/utils.js";
import { afterEach, describe, expect, test, vi } from "vitest";
import { Session, type Control } from "../../wasm/js/session.js";
import { control, loadWasm, openSession, text } from "./support.js";

const key = text("test key 000");
const input = text("This is a test");
const known = "639183aae1bf4c9a35884cb46b09cad9175f04efd7684e7262a0ac1c2f0b4e3f";
const machine = { engine: "interpreter", copies: 1 } as const;
const MIB = 1 << 20;

const { wasm, memory } = loadWasm();
const session = openSession();
afterEach(() => {
  session.release();
});

async function fill(key: Uint8Array, given: Partial<Control> = {}): Promise<void> {
  await session.fill({ key, memory: undefined }, control(given));
}

function hashHex(bytes: Uint8Array): string {
  const [hashed] = session.hash({ version: 1, inputs: [{ bytes }], machine });
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
    const other = new Session(wasm, 8, () => {
      turns += 1;
      return Promise.resolve();
    });
    await other.fill({ key, memory: undefined }, control());
    expect(turns).toBeGreaterThan(10);
    other.release();
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

describe("memory", () => {
  test("a cache takes the place of the last one, whatever the lengths of keys and inputs", async () => {
    await fill(key);
    hashHex(input);
    const after = memory.buffer.byteLength;
    expect(after).toBeLessThan(300 * MIB);
    for (const length of [0, 61, 1000, MIB]) {
      const long = new Uint8Array(length).fill(length & 0xff);
      await fill(long);
      session.hash({ version: 2, inputs: Array(8).fill({ bytes: long }) as never, machine });
    }
    // The inputs of 8 lanes, 1 MiB each, came to it; a second cache would be 256 MiB.
    expect(memory.buffer.byteLength - after).toBeLessThan(24 * MIB);
    await fill(key);
    expect(hashHex(input)).toBe(known);
  });

  test("twenty fills that are aborted take no more than one", async () => {
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
});
