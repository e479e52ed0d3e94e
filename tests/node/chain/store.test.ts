/** The stores of memory and of files. */
import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { Saving } from "../../../wasm/js/chain/saving.js";
import { FileStore, IndexedDBStore, MemoryStore, type Store } from "../../../wasm/js/index.js";
import { AnyRandomX as RandomX, eventually } from "../support.js";
import { chainOf } from "./blocks.js";
import { SimulatedSource } from "./source.js";
import { collect, untilSynced } from "./support.js";

const isPosix = process.platform !== "win32";
if (!isPosix)
  console.warn(
    "SKIPPED modes, links and saves at once: Windows has no such modes, links need a privilege there, " +
      "and it refuses to replace a file while another call does",
  );
const onPosix = test.runIf(isPosix);

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "randomx-store-"));
});

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

test.each([
  ["memory", () => new MemoryStore()],
  ["a file", () => new FileStore(join(folder, "one"))],
])("%s keeps the last state", async (_, open) => {
  const store = open();
  expect(await store.load()).toBeUndefined();
  for (const state of [Uint8Array.of(1, 2), new Uint8Array(), new Uint8Array(100_000).fill(7)]) {
    await store.save(state);
    // The caller may change what it has loaded.
    (await store.load())?.fill(9);
    expect(await store.load()).toEqual(state);
  }
});

onPosix("a new file is its owner's, and a replaced one keeps its mode", async () => {
  const path = join(folder, "mode");
  const store = new FileStore(path);
  await store.save(Uint8Array.of(1));
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  await chmod(path, 0o640);
  await store.save(Uint8Array.of(2));
  expect((await stat(path)).mode & 0o777).toBe(0o640);
});

test("a file is replaced as a whole, and leaves nothing behind", async () => {
  const path = join(folder, "two");
  const store = new FileStore(path);
  await store.save(Uint8Array.of(1));
  // On Windows the numbers of two files may be the same once they are rounded.
  const inode = async (): Promise<bigint> => (await stat(path, { bigint: true })).ino;
  const before = await inode();
  await store.save(Uint8Array.of(2));
  // A new file took its place: a reader of the old one reads it to its end.
  expect(await inode()).not.toBe(before);
  expect((await readdir(folder)).filter((name) => name.startsWith("two"))).toEqual(["two"]);
});

onPosix("saves at once leave nothing behind", async () => {
  const store = new FileStore(join(folder, "ten"));
  await Promise.all(Array.from({ length: 10 }, (_, byte) => store.save(Uint8Array.of(byte))));
  expect((await readdir(folder)).filter((name) => name.startsWith("ten"))).toEqual(["ten"]);
});

test("a load removes old files of saves that did not end, and no others", async () => {
  const own = join(folder, "leftovers");
  await mkdir(own);
  const uuid = crypto.randomUUID();
  const [old, young] = [`chain.${uuid}.new`, `chain.${crypto.randomUUID()}.new`];
  const others = [`chains.${uuid}.new`, `chain.${uuid}.new.txt`, "chain.1.new", "notes.new"];
  for (const name of [old, young, ...others]) await writeFile(join(own, name), "x");
  for (const name of [old, ...others]) await utimes(join(own, name), 0, 0);
  expect(await new FileStore(join(own, "chain")).load()).toBeUndefined();
  expect((await readdir(own)).sort()).toEqual([young, ...others].sort());
});

onPosix("links stay and their targets are replaced, also those that do not exist yet", async () => {
  const own = join(folder, "links");
  await mkdir(join(own, "inner"), { recursive: true });
  await symlink("inner/second", join(own, "first"));
  await symlink("../file", join(own, "inner", "second"));
  const store = new FileStore(join(own, "first"));
  for (const byte of [1, 2]) {
    await store.save(Uint8Array.of(byte));
    expect([...(await readFile(join(own, "file")))]).toEqual([byte]);
  }
  expect((await lstat(join(own, "first"))).isSymbolicLink()).toBe(true);
  const left = join(own, `file.${crypto.randomUUID()}.new`);
  await writeFile(left, "x");
  await utimes(left, 0, 0);
  expect(await store.load()).toEqual(Uint8Array.of(2));
  expect((await readdir(own)).sort()).toEqual(["file", "first", "inner"]);
  await symlink("loop", join(own, "loop"));
  await expect(new FileStore(join(own, "loop")).save(Uint8Array.of(3))).rejects.toMatchObject({
    code: "ELOOP",
  });
});

onPosix("a link in a linked folder leads to a file beside the folder's real place", async () => {
  const own = join(folder, "deep");
  await mkdir(join(own, "one", "two"), { recursive: true });
  await symlink("one/two", join(own, "linked"));
  await symlink("../file", join(own, "one", "two", "link"));
  await new FileStore(join(own, "linked", "link")).save(Uint8Array.of(7));
  expect([...(await readFile(join(own, "one", "file")))]).toEqual([7]);
  expect((await readdir(own)).sort()).toEqual(["linked", "one"]);
});

test("a folder that is missing and a file that is too long are errors", async () => {
  const lost = new FileStore(join(folder, "missing", "file"));
  expect(await lost.load()).toBeUndefined();
  await expect(lost.save(Uint8Array.of(1))).rejects.toMatchObject({ code: "ENOENT" });
  const long = join(folder, "long");
  await writeFile(long, new Uint8Array((16 << 20) + 1));
  await expect(new FileStore(long).load()).rejects.toThrow(/at most 16777216 bytes/);
});

test("states are saved one after another, and only the newest waits", async () => {
  const saved: (number | undefined)[] = [];
  const ends: (() => void)[] = [];
  const store = {
    load: () => Promise.resolve(undefined),
    save: ([number]: Uint8Array) => {
      saved.push(number);
      return new Promise<void>((resolve) => ends.push(resolve));
    },
  };
  const saving = new Saving(store, () => undefined);
  saving.save(Uint8Array.of(1));
  await setImmediate();
  saving.save(Uint8Array.of(2));
  saving.save(Uint8Array.of(3));
  await setImmediate();
  expect(saved).toEqual([1]);
  ends[0]?.();
  await setImmediate();
  expect(saved).toEqual([1, 3]);
  ends[1]?.();
  await saving.idle();
});

test("after a store that throws at once, the next state is saved", async () => {
  const saved: Uint8Array[] = [];
  const failed: string[] = [];
  let isBroken = true;
  const store = {
    load: () => Promise.resolve(undefined),
    save: (state: Uint8Array) => {
      if (isBroken) throw new Error("no space");
      saved.push(state);
      return Promise.resolve();
    },
  };
  const saving = new Saving(store, ({ message }) => failed.push(message));
  saving.save(Uint8Array.of(1));
  await expect(saving.idle()).rejects.toThrow("no space");
  await saving.idle();
  expect(failed).toEqual(["no space"]);
  isBroken = false;
  saving.save(Uint8Array.of(2));
  await saving.idle();
  expect(saved).toEqual([Uint8Array.of(2)]);
});

test("a store without promises continues where the client was", async () => {
  using randomx = await RandomX.create({ threads: 1 });
  const source = await SimulatedSource.start(chainOf(4));
  let state: Uint8Array | undefined;
  const store = {
    load: () => state,
    save: (saved: Uint8Array) => {
      state = saved;
    },
  } as unknown as Store;
  const options = { network: "regtest", poll: 1, store } as const;
  const first = randomx.follow([{ relay: source.url }], options);
  await untilSynced(first);
  await first.close();
  const second = randomx.follow([{ relay: source.url }], options);
  const [event] = await collect(second, () => true);
  expect(event).toMatchObject({ type: "tip", tip: { height: 4, id: source.tip.id } });
  await second.close();
  await source.stop();
});

test("a store that fails while the client closes rejects its end, also the one of its loop", async () => {
  await using randomx = await RandomX.create({ threads: 1 });
  const source = await SimulatedSource.start(chainOf(4));
  for (const end of ["close", "return"] as const) {
    let fail: ((error: Error) => void) | undefined;
    const store = {
      load: () => Promise.resolve(undefined),
      save: () => new Promise<never>((_, reject) => (fail = reject)),
    };
    const chain = randomx.follow([{ relay: source.url }], { network: "regtest", poll: 1, store });
    await eventually(() => {
      expect(fail).toBeDefined();
    });
    const ended = expect(chain[end]()).rejects.toThrow("no space");
    fail?.(new Error("no space"));
    await ended;
    await expect(chain.close()).rejects.toThrow("no space");
  }
  await source.stop();
});

test("a save that the browser cannot write at its end rejects with the reason", async () => {
  const later = <T extends object>(target: T, event: string): T => {
    setTimeout(() => (target as Record<string, () => void>)[event]?.());
    return target;
  };
  const error = new DOMException("no room", "QuotaExceededError");
  const put = (): object => ({ result: undefined, error: null });
  const database = {
    transaction: () => later({ error, objectStore: () => ({ put }) }, "onabort"),
    close: vi.fn(),
  };
  const open = (): object => later({ result: database, error: null }, "onsuccess");
  vi.stubGlobal("indexedDB", { open });
  await expect(new IndexedDBStore().save(Uint8Array.of(1))).rejects.toBe(error);
  expect(database.close).toHaveBeenCalledOnce();
  vi.unstubAllGlobals();
});

test("the browser's database is not supported here", async () => {
  await expect(new IndexedDBStore().load()).rejects.toMatchObject({ code: "unsupported" });
});
