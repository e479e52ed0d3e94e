/** How a session works: fills in steps, gives way, stops, and gives memory back. */
import { bytesToHex } from "@noble/hashes/utils.js";
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { Session } from "../../wasm/js/session.js";
import { control, loadWasm, openSession, readVectors, text } from "./support.js";
import type { HashVector } from "./support.js";

const key = text("test key 000");
const input = text("This is a test");
const MIB = 1 << 20;

let known: string;
beforeAll(() => {
  const { vectors } = readVectors("specification-hashes") as { vectors: HashVector[] };
  const vector = vectors.find((each) => each.input === bytesToHex(input) && each.version === 1);
  if (!vector) throw new Error("the vector is missing");
  known = vector.hash;
});

const { wasm, memory } = loadWasm();
const session = openSession();
afterEach(() => {
  session.release();
});

async function hashHex(): Promise<string> {
  return bytesToHex(await session.hash({ key, input, version: 1 }, control()));
}

describe("preparing", () => {
  test("tells its progress from 0 to 1, in steps of about 20 ms", async () => {
    const times: number[] = [];
    const progress: number[] = [];
    const onProgress = (done: number): void => {
      progress.push(done);
      times.push(performance.now());
    };
    await session.prepare({ key }, control({ onProgress }));
    expect(progress[0]).toBe(0);
    expect(progress.at(-1)).toBe(1);
    expect(progress).toEqual([...progress].sort((a, b) => a - b));
    const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    const median = gaps.sort((a, b) => a - b)[gaps.length >> 1];
    expect(median).toBeGreaterThan(5);
    expect(median).toBeLessThan(60);
  });

  test("fills once for a key, and says so at once for the one that is held", async () => {
    const fill = vi.spyOn(wasm.CacheBuilder.prototype, "fill");
    await session.prepare({ key }, control());
    const steps = fill.mock.calls.length;
    const onProgress = vi.fn();
    await session.prepare({ key: text("test key 000") }, control({ onProgress }));
    expect(await hashHex()).toBe(known);
    expect(fill.mock.calls.length).toBe(steps);
    expect(onProgress.mock.calls).toEqual([[1]]);
    fill.mockRestore();
  });

  test("lets other tasks run between steps", async () => {
    let turns = 0;
    const other = new Session(wasm, () => {
      turns += 1;
      return Promise.resolve();
    });
    await other.prepare({ key }, control());
    expect(turns).toBeGreaterThan(10);
    other.release();
  });
});

describe("aborting", () => {
  test("ends the fill at its next pause and keeps nothing of it", async () => {
    const free = vi.spyOn(wasm.CacheBuilder.prototype, "free");
    const abort = new AbortController();
    const reason = new Error("enough");
    const onProgress = vi.fn((done: number) => {
      if (done > 0.1) abort.abort(reason);
    });
    const preparing = session.prepare({ key }, control({ signal: abort.signal, onProgress }));
    await expect(preparing).rejects.toMatchObject({
      name: "AbortError",
      code: "aborted",
      cause: reason,
    });
    expect(onProgress.mock.lastCall?.[0]).toBeLessThan(0.5);
    expect(free).toHaveBeenCalledOnce();
    free.mockRestore();
    expect(await hashHex()).toBe(known);
  });

  test("ends hashMany after the group at work; the cache stays", async () => {
    await session.prepare({ key }, control());
    const hashMany = vi.spyOn(wasm.Vm.prototype, "hashMany");
    const abort = new AbortController();
    const inputs = Array<Uint8Array>(24).fill(input);
    setImmediate(() => {
      abort.abort();
    });
    const hashing = session.hashMany(
      { key, inputs, version: 1 },
      control({ signal: abort.signal }),
    );
    await expect(hashing).rejects.toMatchObject({ code: "aborted" });
    expect(hashMany).toHaveBeenCalledOnce();
    hashMany.mockRestore();

    const onProgress = vi.fn();
    await session.prepare({ key }, control({ onProgress }));
    expect(onProgress.mock.calls).toEqual([[1]]);
  });
});

describe("memory", () => {
  test("a cache takes the place of the last one, whatever the lengths of keys and inputs", async () => {
    await session.hashMany({ key, inputs: [input], version: 1 }, control());
    const after = memory.buffer.byteLength;
    expect(after).toBeLessThan(300 * MIB);
    for (const length of [0, 61, 1000, MIB]) {
      const long = new Uint8Array(length).fill(length & 0xff);
      const inputs = Array<Uint8Array>(8).fill(long);
      await session.hashMany({ key: long, inputs, version: 2 }, control());
    }
    // The inputs of 8 lanes, 1 MiB each, came to it; a second cache would be 256 MiB.
    expect(memory.buffer.byteLength - after).toBeLessThan(24 * MIB);
    expect(await hashHex()).toBe(known);
  });

  test("twenty fills that are aborted take no more than one", async () => {
    await session.prepare({ key }, control());
    const before = memory.buffer.byteLength;
    for (let round = 0; round < 20; round += 1) {
      const abort = new AbortController();
      const other = text(`aborted ${round}`);
      const onProgress = (done: number): void => {
        if (done > 0) abort.abort();
      };
      const preparing = session.prepare(
        { key: other },
        control({ signal: abort.signal, onProgress }),
      );
      await expect(preparing).rejects.toMatchObject({ code: "aborted" });
    }
    expect(await hashHex()).toBe(known);
    expect(memory.buffer.byteLength).toBe(before);
  });
});

test("no inputs have no hashes", async () => {
  expect(await session.hashMany({ key, inputs: [], version: 1 }, control())).toEqual([]);
});

test("inputs are hashed in order over several groups", async () => {
  const inputs = Array.from({ length: 19 }, (_, index) => text(`input ${index % 5}`));
  const hashes = await session.hashMany({ key, inputs, version: 2 }, control());
  const hex = hashes.map(bytesToHex);
  expect(new Set(hex).size).toBe(5);
  hex.forEach((hash, index) => {
    expect(hash).toBe(hex[index % 5]);
  });
  const alone = await session.hash({ key, input: text("input 3"), version: 2 }, control());
  expect(hex[18]).toBe(bytesToHex(alone));
});
