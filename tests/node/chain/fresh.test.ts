/** Hashes that accuse a source, whose cache is filled anew: nothing that was held or kept may decide. */
import { setImmediate } from "node:timers/promises";
import { bytesToHex } from "@noble/hashes/utils.js";
import { afterEach, expect, test, vi } from "vitest";
import { Hashing } from "../../../wasm/js/chain/hashing.js";
import { choices, type CreateOptions } from "../../../wasm/js/options.js";
import type { Args } from "../../../wasm/js/protocol.js";
import { Scheduler } from "../../../wasm/js/scheduler.js";
import type { WorkerSession } from "../../../wasm/js/session.js";
import { FakeStorage } from "../fake-storage.js";
import { useLocalWorkers, type Performed } from "../local-workers.js";
import { text } from "../support.js";

const key = text("test key 000");
const input = text("This is a test");
const schedulers: Scheduler[] = [];

afterEach(async () => {
  await Promise.all(schedulers.splice(0).map((each) => each.close("disposed", "the test is over")));
  vi.unstubAllGlobals();
});

async function open(options: CreateOptions): Promise<Scheduler> {
  const workerUrl = new URL("file:///of-a-local-worker.js");
  const scheduler = new Scheduler(choices({ engine: "jit", workerUrl, ...options }));
  schedulers.push(scheduler);
  await scheduler.open();
  return scheduler;
}

/** Hashes an input for a client, once or more often, and returns the hashes in hex. */
function hash(scheduler: Scheduler, ...fresh: boolean[]): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const hashes: string[] = [];
    let missing = fresh.length;
    const hashing = new Hashing(scheduler, {
      hashed: (job, hash) => {
        hashes[job] = bytesToHex(hash);
        if ((missing -= 1) === 0) resolve(hashes);
      },
      failed: (_, error) => {
        reject(error);
      },
    });
    hashing.add(fresh.map((fresh, job) => ({ job, seedHash: key, blob: input, fresh })));
  });
}

/** The results of an operation. */
function resultsOf(performed: readonly Performed[], operation: string): unknown[] {
  return performed.filter((each) => each.operation === operation).map(({ result }) => result);
}

/** Makes workers whose hashes are the number of the fill. `begun` receives the arguments of each fill. */
function useCounts(begun: (args: Args<"fill">) => void): Performed[] {
  let fills = 0;
  return useLocalWorkers(() => {
    let filling = 0;
    const memory = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });
    return {
      allocate: () => memory,
      fill: (args) => {
        begun(args);
        const { key, memory } = args;
        const items = Object.assign(new WebAssembly.Module(EMPTY), { filling: (fills += 1) });
        filling = fills;
        return Promise.resolve({ key, memory, items });
      },
      attach: ({ cache: { items } }) => {
        ({ filling } = items as unknown as { filling: number });
        return null;
      },
      release: () => null,
      hash: ({ inputs }) => new Uint8Array(32 * inputs.length).fill(filling),
    } satisfies Partial<WorkerSession> as unknown as WorkerSession;
  });
}

test("no worker hashes with the cache before, and hashes that wait for it are not held up", async () => {
  const asked: unknown[] = [];
  const performed = useCounts(({ mayRead, isFresh }) => asked.push({ mayRead, isFresh }));
  vi.stubGlobal("navigator", { storage: new FakeStorage() });
  const scheduler = await open({ threads: 2, lanes: 1, keepCache: true });
  while (scheduler.stats.workers.started < 2) await setImmediate();
  const [first, ...rest] = await hash(scheduler, false, true, ...Array<boolean>(20).fill(false));
  expect([first, rest[0]]).toEqual(["01".repeat(32), "02".repeat(32)]);
  expect(resultsOf(performed, "fill")).toHaveLength(2);
  expect(asked).toEqual([
    { mayRead: true, isFresh: false },
    { mayRead: false, isFresh: true },
  ]);
  const later = await hash(scheduler, ...Array<boolean>(20).fill(false));
  expect(new Set(later)).toEqual(new Set(["02".repeat(32)]));
});

test("a cache that another key replaces before the hash is filled anew again", async () => {
  const asked: unknown[] = [];
  let other: Promise<unknown> | undefined;
  useCounts(({ key, mayRead, isFresh }) => {
    asked.push({ key: bytesToHex(key), mayRead, isFresh });
    const urgent = {
      key: input,
      version: 1,
      inputs: [{ bytes: input }],
      priority: "high",
    } as const;
    other ??= scheduler.hash(urgent, {});
  });
  vi.stubGlobal("navigator", { storage: new FakeStorage() });
  const scheduler = await open({ threads: 1, lanes: 1, slots: 1, keepCache: true });
  expect(await hash(scheduler, true)).toEqual(["03".repeat(32)]);
  await other;
  const fresh = { key: bytesToHex(key), mayRead: false, isFresh: true };
  expect(asked).toEqual([fresh, { key: bytesToHex(input), mayRead: true, isFresh: false }, fresh]);
});

/** A module without anything. */
const EMPTY = Uint8Array.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);
