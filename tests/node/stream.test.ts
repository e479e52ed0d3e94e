/** Streams of results: sources that fail, and the memory of long ones. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test, vi } from "vitest";
import { stream } from "../../wasm/js/stream.js";
import type { Source } from "../../wasm/js/types.js";
import { eventually } from "./support.js";

const failure = new Error("no more");

/** The listeners of an instance's end. */
const attached = new Set<unknown>();
const instance = {
  attach: (ended: unknown) => {
    attached.add(ended);
    return () => attached.delete(ended);
  },
};

function results<T>(source: Source<T>, room = 4): AsyncGenerator<T> {
  return stream(source, room, (input) => Promise.resolve(input), undefined, instance);
}

/** Returns what a stream yields, and then its error. */
async function drained(source: Source<unknown>): Promise<unknown[]> {
  const taken: unknown[] = [];
  try {
    for await (const result of results(source)) {
      taken.push(result);
      // A busy consumer, which the process must outlive.
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  } catch (error) {
    taken.push(error);
  }
  return taken;
}

test("a long stream keeps nothing of the results that were taken", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  function* many(): Generator<number> {
    for (let index = 0; index < 40_000; index += 1) yield index;
  }
  let before = 0;
  for await (const index of results(many())) {
    if (index !== 1000 && index !== 39_000) continue;
    collect();
    const { heapUsed } = process.memoryUsage();
    if (before > 0) expect(heapUsed - before).toBeLessThan(4 << 20);
    before = heapUsed;
  }
});

test("each work has a signal of its own, because Node warns of one with many listeners", async () => {
  const signals = new Set<AbortSignal>();
  const begin = (input: number, _: number, signal: AbortSignal): Promise<number> => {
    signals.add(signal);
    return Promise.resolve(input);
  };
  const caller = new AbortController();
  const walk = stream([1, 2, 3, 4], 2, begin, caller.signal, instance);
  expect([(await walk.next()).value, (await walk.next()).value]).toEqual([1, 2]);
  expect(signals.size).toBe(3);
  caller.abort();
  await expect(walk.next()).rejects.toMatchObject({ code: "aborted" });
});

const asynchronous = (next: () => unknown, end = vi.fn()): Source<unknown> => ({
  [Symbol.asyncIterator]: () => ({
    next: next as () => Promise<IteratorResult<unknown>>,
    return: end as () => Promise<IteratorResult<unknown>>,
  }),
});

const synchronous = (next: () => unknown, end = vi.fn()): Source<unknown> => ({
  [Symbol.iterator]: () => ({
    next: next as () => IteratorResult<unknown>,
    return: end as () => IteratorResult<unknown>,
  }),
});

const unreadable = {
  get done(): boolean {
    throw failure;
  },
};

/** Ways to fail, and whether the error is the source's own. */
const endings: Record<string, [() => unknown, boolean]> = {
  "throws at once": [
    () => {
      throw failure;
    },
    true,
  ],
  "returns no object": [() => undefined, false],
  "returns a result that throws": [() => unreadable, true],
};

const KINDS = ["an iterator", "an async iterator"] as const;

test.each(KINDS.flatMap((kind) => Object.keys(endings).map((name) => [kind, name] as const)))(
  "the results before an error come first: %s that %s",
  async (kind, name) => {
    const isAsync = kind === "an async iterator";
    const wrapped = (result: unknown): unknown => (isAsync ? Promise.resolve(result) : result);
    const sourceOf = isAsync ? asynchronous : synchronous;
    const [fail, isOwn] = endings[name] ?? [];
    let count = 0;
    const next = vi.fn(() => {
      count += 1;
      return count <= 2 ? wrapped({ value: count }) : wrapped(fail?.());
    });
    const end = vi.fn();
    const [first, second, error, ...rest] = await drained(sourceOf(next, end));
    expect([first, second, rest]).toEqual([1, 2, []]);
    if (isOwn) expect(error).toBe(failure);
    else expect(error).toBeInstanceOf(TypeError);
    expect(next).toHaveBeenCalledTimes(3);
    expect(end).not.toHaveBeenCalled();
  },
);

test("a stream listens for the end of its instance only while it waits", async () => {
  let answer: ((result: IteratorResult<unknown>) => void) | undefined;
  const walk = results(
    asynchronous(() => new Promise<IteratorResult<unknown>>((resolve) => (answer = resolve))),
  );
  const waiting = walk.next();
  await eventually(() => {
    expect(attached.size).toBe(1);
  });
  answer?.({ value: 1 });
  expect(await waiting).toEqual({ done: false, value: 1 });
  expect(attached.size).toBe(0);
});

test.each([
  ["an iterator", synchronous],
  ["an async iterator", asynchronous],
])("an error of closing %s does not replace the reason for the end", async (kind, sourceOf) => {
  const one = { value: 1 };
  const next = (): unknown => (kind === "an iterator" ? one : Promise.resolve(one));
  const end = vi.fn(() => {
    throw failure;
  });
  const caller = new AbortController();
  const begin = (): Promise<number> => Promise.resolve(1);
  const walk = stream(sourceOf(next, end), 2, begin, caller.signal, instance);
  expect(await walk.next()).toEqual({ done: false, value: 1 });
  caller.abort();
  await expect(walk.next()).rejects.toMatchObject({ code: "aborted" });
  const left = results(sourceOf(next, end));
  await left.next();
  expect(await left.return(undefined)).toEqual({ done: true, value: undefined });
  expect(end).toHaveBeenCalledTimes(2);
});

test("a source that its reader leaves is closed once", async () => {
  const end = vi.fn();
  for await (const result of results(synchronous(() => ({ value: 1 }), end))) {
    expect(result).toBe(1);
    break;
  }
  expect(end).toHaveBeenCalledOnce();
});
