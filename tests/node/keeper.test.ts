/** When an instance writes a cache into the browser's storage, and which. */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Connection } from "../../wasm/js/connection.js";
import { Keeper } from "../../wasm/js/kept/keeper.js";
import { Slots } from "../../wasm/js/slots.js";
import type { WorkerHandle } from "../../wasm/js/worker_pool.js";
import { FakeStorage } from "./fake-storage.js";
import { text } from "./support.js";

const key = text("a key");
const memory = new WebAssembly.Memory({ initial: 1, maximum: 1 });

beforeEach(() => {
  vi.stubGlobal("navigator", { storage: new FakeStorage() });
});
afterEach(() => {
  vi.unstubAllGlobals();
});

describe("an instance", () => {
  const slots = new Slots(2);
  const [first, second] = slots.all;
  if (!first || !second) throw new Error("a slot is missing");
  const caches = [0, 1].map(() => ({ key, memory, items: undefined }));
  let wakes = 0;
  let aborts = 0;
  let keeper: Keeper;
  let asked: unknown;
  let answer: (written: "kept" | "stopped" | "impossible") => void;
  let fail: (error: Error) => void;

  /** A worker that has both caches. */
  const worker = (): WorkerHandle => ({
    connection: {
      request: (_: string, args: unknown) =>
        new Promise((resolve, reject) => {
          asked = args;
          answer = resolve;
          fail = reject;
        }),
      abort: () => (aborts += 1),
    } as unknown as Connection,
    works: 0,
    batches: 0,
    endedAt: 0,
    place: 1,
    caches,
  });

  beforeEach(() => {
    vi.useFakeTimers();
    wakes = 0;
    aborts = 0;
    for (const [index, slot] of slots.all.entries()) {
      Object.assign(slot, { key, memory: { shared: memory }, cache: caches[index] });
      Object.assign(slot, { keeping: "possible", usedAt: index });
    }
    keeper = new Keeper(true, slots, () => (wakes += 1));
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  function rest(): void {
    keeper.watch(0);
    vi.advanceTimersByTime(2000);
  }

  test("writes the last key's cache when it has been idle for two seconds, with one worker", async () => {
    const [one, other] = [worker(), worker()];
    keeper.watch(0);
    vi.advanceTimersByTime(1999);
    expect(keeper.write(one)).toBeUndefined();
    vi.advanceTimersByTime(1);
    expect(wakes).toBe(1);
    const writing = keeper.write(one);
    expect([first.users, second.users]).toEqual([0, 1]);
    keeper.watch(1);
    expect(keeper.write(other)).toBeUndefined();
    answer("kept");
    await writing;
    expect(second).toMatchObject({ keeping: "kept", users: 0 });
    expect(aborts).toBe(0);
    rest();
    expect(keeper.write(one)).toBeUndefined();
  });

  test("tells the worker that a cache is fresh", async () => {
    const fresh = { key, memory, items: undefined, isFresh: true };
    second.cache = fresh;
    rest();
    const writing = keeper.write({ ...worker(), caches: [caches[0], fresh] });
    expect(asked).toMatchObject({ slot: 1, isFresh: true });
    answer("kept");
    await writing;
  });

  test("writes a fresh cache that is not the last used one", async () => {
    const fresh = { key, memory, items: undefined, isFresh: true };
    first.cache = fresh;
    second.keeping = "impossible";
    rest();
    const writing = keeper.write({ ...worker(), caches: [fresh, caches[1]] });
    expect(asked).toMatchObject({ slot: 0, isFresh: true });
    answer("kept");
    await writing;
    expect(first.keeping).toBe("kept");
  });

  test("writes each of two caches once", async () => {
    for (const [index, slot] of [second, first].entries()) {
      slot.usedAt = 10 + index;
      rest();
      const writing = keeper.write(worker());
      answer("kept");
      await writing;
    }
    expect([first.keeping, second.keeping]).toEqual(["kept", "impossible"]);
    second.usedAt = 20;
    rest();
    expect(keeper.write(worker())).toBeUndefined();
  });

  test("stops for other work, and begins again when it has been idle again", async () => {
    rest();
    let writing = keeper.write(worker());
    keeper.watch(Infinity);
    expect(aborts).toBe(1);
    answer("stopped");
    await writing;
    expect(keeper.write(worker())).toBeUndefined();
    rest();
    writing = keeper.write(worker());
    answer("kept");
    await writing;
    expect(second.keeping).toBe("kept");
  });

  test.each(["impossible", "dead"] as const)("does not try again after %s", async (end) => {
    rest();
    const writing = keeper.write(worker());
    if (end === "dead") fail(new Error("the worker died"));
    else answer(end);
    await writing;
    expect(second).toMatchObject({ keeping: "impossible", users: 0 });
    rest();
    expect(keeper.write(worker())).toBeUndefined();
  });

  test("keeps nothing unless it is asked to, and where there is no storage", () => {
    expect(new Keeper(false, slots, () => undefined).isWanted).toBe(false);
    vi.stubGlobal("navigator", {});
    const unable = new Keeper(true, slots, () => undefined);
    expect(unable.isWanted).toBe(false);
    unable.watch(0);
    expect(vi.getTimerCount()).toBe(0);
  });
});
