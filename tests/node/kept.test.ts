/** Keeping a cache in the browser's storage: the file, its checksum, and a session that writes and reads it. */
import { bytesToHex } from "@noble/hashes/utils.js";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Checksum } from "../../wasm/js/kept/checksum.js";
import { KeptReader, writeKept } from "../../wasm/js/kept/file.js";
import { forgetKept } from "../../wasm/js/kept/storage.js";
import { CACHE_SIZE, FakeStorage } from "./fake-storage.js";
import { control, openSession, text } from "./support.js";

const key = text("a key");

let storage: FakeStorage;
beforeEach(() => {
  storage = new FakeStorage();
  vi.stubGlobal("navigator", { storage });
});
afterEach(() => {
  vi.unstubAllGlobals();
});

const memory = new WebAssembly.Memory({ initial: 4097, maximum: 4097 });
const words = new Uint32Array(memory.buffer);
words.forEach((_, at) => {
  if (at % 1021 === 0) words[at] = at;
});

async function read(of = key): Promise<boolean> {
  const reader = await KeptReader.open(of);
  return reader ? readWith(reader) : false;
}

async function readWith(reader: KeptReader): Promise<boolean> {
  const target = new WebAssembly.Memory({ initial: 4097, maximum: 4097 });
  const { signal } = new AbortController();
  const isRead = await reader.read(target, signal, () => Promise.resolve());
  await reader.close();
  const [now, before] = [target, memory].map(({ buffer }) => Buffer.from(buffer, 0, CACHE_SIZE));
  if (isRead) expect(now && before && now.equals(before), "the content").toBe(true);
  return isRead;
}

/** Writes the cache, until `signal` says otherwise. */
const write = (of = key, { signal } = new AbortController(), isFresh = false): Promise<string> =>
  writeKept(of, memory, signal, () => Promise.resolve(), isFresh);

/** Writes the cache as one that was filled because the kept one may be wrong. */
const writeFresh = (): Promise<string> => write(key, undefined, true);

describe("a checksum", () => {
  const bytes = Uint8Array.from({ length: 64 }, (_, at) => 7 * at);
  const of = (...parts: Uint8Array[]): string => {
    const checksum = new Checksum();
    for (const part of parts) checksum.add(part.slice());
    return String(checksum.bytes());
  };

  test("does not depend on the parts", () => {
    expect(of(bytes.subarray(0, 16), bytes.subarray(16))).toBe(of(bytes));
  });

  test("notices a changed bit, a lost part, and parts in another order", () => {
    const changed = bytes.slice();
    changed[63] = (changed[63] ?? 0) ^ 0x80;
    const [one, two] = [bytes.subarray(0, 32), bytes.subarray(32)];
    const all = [of(bytes), of(changed), of(one), of(two, one), of(one, new Uint8Array(32))];
    expect(new Set(all).size).toBe(all.length);
  });

  test("notices two changed top bits, and parts that are far apart in another order", () => {
    const twice = bytes.slice();
    for (const at of [3, 35]) twice[at] = (twice[at] ?? 0) ^ 0x80;
    expect(of(twice)).not.toBe(of(bytes));
    const [one, two] = [bytes.subarray(0, 32), bytes.subarray(32)];
    const gap = new Uint8Array(1 << 20);
    expect(of(one, gap, two)).not.toBe(of(two, gap, one));
  });
});

describe("the file", () => {
  test("is read for the key that it was written for", async () => {
    expect(await read()).toBe(false);
    await write();
    expect(await read()).toBe(true);
    expect(await read(text("another key"))).toBe(false);
    expect(storage.isUsed).toBe(false);
  });

  test("holds the last key", async () => {
    await write();
    await write(text("another key"));
    expect(await read()).toBe(false);
  });

  test("is not read before it is whole", async () => {
    let turns = 0;
    // As if the browser ended after 20 parts.
    const writing = writeKept(key, memory, new AbortController().signal, () =>
      (turns += 1) < 20 ? Promise.resolve() : new Promise(() => undefined),
    );
    await Promise.race([writing, vi.waitUntil(() => turns === 20)]);
    expect(storage.content?.length).toBeGreaterThan(1 << 27);
    storage.isLocked = false;
    expect(await read()).toBe(false);
  });

  test("is empty after writing was stopped", async () => {
    const stop = new AbortController();
    stop.abort();
    expect(await write(key, stop)).toBe("stopped");
    expect([storage.content?.length, storage.isUsed]).toEqual([0, false]);
    expect(await write()).toBe("kept");
  });

  test("is not written again for the same key", async () => {
    expect(await write()).toBe("kept");
    storage.writes = 0;
    expect(await write()).toBe("kept");
    expect(await read()).toBe(true);
  });

  test("is replaced by a fresh cache of its key", async () => {
    words[0] = 7;
    await write();
    words[0] = 0;
    expect(await writeFresh()).toBe("kept");
    expect(await read()).toBe(true);
  });

  test("is replaced by a fresh cache when nobody reads it any more", async () => {
    await write();
    const open = await KeptReader.open(key);
    expect(await writeFresh()).toBe("stopped");
    await open?.close();
    expect(await read()).toBe(true);
    expect(await writeFresh()).toBe("kept");
  });

  test("is not read if a byte has changed, or the end is missing", async () => {
    await write();
    const { content } = storage;
    if (!content) throw new Error("there is no file");
    const bytes = Buffer.from(content.buffer);
    bytes.writeUInt8(bytes.readUInt8(200_000_000) ^ 1, 200_000_000);
    expect(await read()).toBe(false);
    // The first failure has emptied the file.
    expect(storage.content).toHaveLength(0);
    await write();
    storage.content = storage.content?.subarray(0, 200_000_000);
    expect(await read()).toBe(false);
  });

  test.each([true, false])(
    "is read by two workers at once if the browser lets them: %s",
    async (isShared) => {
      storage.isShared = isShared;
      await write();
      const open = await KeptReader.open(key);
      expect(await read()).toBe(isShared);
      expect(await write()).toBe("impossible");
      expect(await forgetKept()).toBe("in-use");
      await open?.close();
      expect(await read()).toBe(true);
      expect(storage.isUsed).toBe(false);
    },
  );

  test("that is damaged is emptied by the last reader", async () => {
    await write();
    storage.content?.fill(1, 300_000, 300_001);
    const open = await KeptReader.open(key);
    expect(await read()).toBe(false);
    expect(storage.content?.length).toBeGreaterThan(CACHE_SIZE);
    expect(open && (await readWith(open))).toBe(false);
    expect([storage.content?.length, storage.isUsed]).toEqual([0, false]);
  });

  test("is not used while a worker writes it", async () => {
    await write();
    storage.isLocked = true;
    expect(await read()).toBe(false);
    expect(await write()).toBe("impossible");
    expect(await forgetKept()).toBe("in-use");
  });

  test("takes no room in a storage that has little", async () => {
    storage.quota = 2 ** 30 - 1;
    expect(await write()).toBe("impossible");
    expect(storage.content).toHaveLength(0);
  });

  test.each([0, 5, 32])("is empty if the storage is full after %d writes", async (writes) => {
    storage.writes = writes;
    expect(await write()).toBe("impossible");
    expect(storage.content).toHaveLength(0);
    expect(storage.isUsed).toBe(false);
    expect(await read()).toBe(false);
  });

  test("can be deleted", async () => {
    await write();
    expect(await forgetKept()).toBe("deleted");
    expect(await forgetKept()).toBe("none");
    vi.stubGlobal("navigator", {});
    expect(await forgetKept()).toBe("none");
    const refusing = { getDirectory: () => Promise.reject(new DOMException("", "SecurityError")) };
    vi.stubGlobal("navigator", { storage: refusing });
    expect(await forgetKept()).toBe("none");
  });

  test("that cannot be deleted is not reported as none", async () => {
    const removeEntry = () => Promise.reject(new DOMException("the disk", "UnknownError"));
    const failing = { getDirectory: () => Promise.resolve({ removeEntry }) };
    vi.stubGlobal("navigator", { storage: failing });
    await expect(forgetKept()).rejects.toThrow("the disk");
  });
});

describe("a session", () => {
  const at = { slot: 0, key: text("test key 000"), memory: undefined };
  const input = text("This is a test");
  const known = "639183aae1bf4c9a35884cb46b09cad9175f04efd7684e7262a0ac1c2f0b4e3f";
  const session = openSession();
  const hash = (): string =>
    bytesToHex(session.hash({ slot: 0, version: 1, inputs: [input], engine: "jit" }));

  const keep = (): Promise<string> => session.keep(at, new AbortController().signal);

  beforeEach(() => {
    session.allocate({ slot: 0, shared: false });
  });
  afterEach(() => {
    session.release({ slot: 0 });
  });

  test("reads what it has kept, and fills what was damaged since", async () => {
    const progress: number[] = [];
    const onProgress = (done: number): void => void progress.push(done);
    await session.fill({ ...at, mayRead: true }, control());
    expect(await keep()).toBe("kept");
    session.allocate({ slot: 0, shared: false });
    const read = await session.fill({ ...at, mayRead: true }, control({ onProgress }));
    expect([read.isKept, hash(), progress]).toEqual([true, known, [0, 1]]);

    storage.content?.fill(0, 300_000, 300_001);
    storage.content?.fill(1, 300_001, 300_002);
    const filled = await session.fill({ ...at, mayRead: true }, control());
    expect([filled.isKept, hash()]).toEqual([undefined, known]);
    expect(storage.isUsed).toBe(false);
  });

  test("that cannot keep its cache says so, and leaves nothing", async () => {
    storage.writes = 3;
    expect(await keep()).toBe("impossible");
    expect([storage.content?.length, storage.isUsed]).toEqual([0, false]);
  });
});
