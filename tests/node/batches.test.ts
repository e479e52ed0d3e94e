/** The queue's lines, and the batches that are taken out of them. */
import { describe, expect, test } from "vitest";
import { hashBatch, takeBatch, type Limits } from "../../wasm/js/batches.js";
import { Calibration } from "../../wasm/js/calibration.js";
import type { Connection } from "../../wasm/js/connection.js";
import { timesOf } from "../../wasm/js/hashed.js";
import { Call, Hashing, Release, type Job } from "../../wasm/js/job.js";
import type { Args } from "../../wasm/js/protocol.js";
import { Queue } from "../../wasm/js/queue.js";
import { Slots } from "../../wasm/js/slots.js";
import {
  PRIORITIES,
  type Follow,
  type Priority,
  type Times,
  type Version,
} from "../../wasm/js/types.js";
import { text } from "./support.js";

const [a, b] = [text("key a"), text("key b")] as const;
const limits = { lanes: 8, workers: 1, before: Infinity };

/** Receives no answer. */
const nobody = { resolve: () => undefined, reject: () => undefined };

let looks = 0;

/** Counts how often the scheduler looks at it. */
class Counted extends Hashing {
  override get waiting(): number {
    looks += 1;
    return super.waiting;
  }
}

interface Options {
  priority?: Priority;
  version?: Version;
  inputs?: number;
  isBlock?: boolean;
  onTimes?: (times: Times) => void;
  onProgress?: NonNullable<Follow["onProgress"]>;
}

function hashing(key: Uint8Array, options: Options = {}): Counted {
  const { priority = "normal", version = 1, inputs = 1, isBlock = false } = options;
  const { onTimes, onProgress } = options;
  const bytes = Array.from({ length: inputs }, (_, index) => ({
    bytes: Uint8Array.of(index),
    isBlock,
  }));
  const request = { key, version, priority, inputs: bytes, ...(onTimes && { onTimes }) };
  return new Counted(request, nobody, onProgress);
}

/** Returns numbers from 0 to 1 that only a seed decides (mulberry32). */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function release(key: Uint8Array): Release {
  return new Release(key, nobody);
}

function queueOf(...jobs: Job[]): Queue {
  const queue = new Queue(1 << 20);
  for (const job of jobs) queue.add(job);
  return queue;
}

/** Takes the batch of the first line, as the number of inputs of each request. */
function take(queue: Queue, given: Partial<Limits> = {}): [Hashing, number][] {
  const head = queue.lines[0]?.head;
  if (!(head instanceof Hashing)) throw new Error("there is nothing to hash");
  const parts = takeBatch(queue, head, { ...limits, ...given });
  return parts.map(({ job, inputs }) => [job, inputs.length]);
}

describe("a batch", () => {
  test("has the requests of one key and version, up to the lanes", () => {
    const jobs = Array.from({ length: 9 }, () => hashing(a));
    const queue = queueOf(hashing(b), ...jobs);
    take(queue);
    expect(take(queue, { lanes: 8 })).toEqual(jobs.slice(0, 5).map((job) => [job, 1]));
    expect(take(queue)).toEqual(jobs.slice(5).map((job) => [job, 1]));
    expect(queue.waiting).toEqual({ requests: 0, inputs: 0, bytes: 0 });
  });

  test("is such that workers finish together, and stays so for a long request", () => {
    const job = hashing(a, { inputs: 20 });
    const queue = queueOf(job);
    expect(take(queue, { workers: 2 })).toEqual([[job, 5]]);
    expect(take(queue, { workers: 1 })).toEqual([[job, 5]]);
    expect(queue.waiting.inputs).toBe(10);
  });

  test("has as many inputs as lanes when a lot waits", () => {
    expect(take(queueOf(hashing(a, { inputs: 1000 })), { workers: 2 })[0]?.[1]).toBe(8);
  });

  test("ends before a request to release the cache", () => {
    const first = hashing(a);
    const queue = queueOf(first, release(a), hashing(a));
    expect(take(queue)).toEqual([[first, 1]]);
  });

  test.each<[string, Options]>([
    ["of another version", { version: 2 }],
    ["with blocks", { isBlock: true }],
    ["to measure", { onTimes: () => undefined }],
  ])("passes over some requests %s, which come next", (_, options) => {
    const [first, second, third] = [hashing(a), hashing(a), hashing(a)];
    const others = Array.from({ length: 64 }, () => hashing(a, options));
    const [next] = others;
    const queue = queueOf(first, ...others, second, hashing(a, options), third);
    expect(take(queue)).toEqual([
      [first, 1],
      [second, 1],
    ]);
    expect(queue.lines[0]?.head).toBe(next);
  });

  test("that measures has one request with all its inputs", () => {
    const first = hashing(a, { inputs: 30, onTimes: () => undefined });
    expect(take(queueOf(first, hashing(a)))).toEqual([[first, 30]]);
  });

  test("does not overtake a request that waits for a slot, but skips other keys", () => {
    const [first, other, second] = [hashing(a), hashing(b), hashing(a)];
    const held = queueOf(first, other, second);
    expect(take(held)).toEqual([
      [first, 1],
      [second, 1],
    ]);
    const [early, late] = [hashing(a), hashing(a)];
    const waiting = hashing(b);
    const queue = queueOf(early, waiting, late);
    expect(take(queue, { before: waiting.place })).toEqual([[early, 1]]);
    expect(queue.lines.map(({ head }) => head)).toEqual([waiting, late]);
  });

  test("may be aborted by a listener without losing count", () => {
    const [second, third] = [hashing(a), hashing(a)];
    const onProgress = (): void => {
      queue.remove(third);
      queue.remove(second);
    };
    const first = hashing(a, { onProgress });
    const queue = queueOf(first, second, third);
    take(queue, { lanes: 2 });
    expect(queue.waiting).toEqual({ requests: 0, inputs: 0, bytes: 0 });
  });
});

describe("measuring", () => {
  const features = { fusedMultiplyAdd: true, wideArithmetic: true, sharedMemory: true };
  const calibration = new Calibration(["jit"], features, undefined);
  const [slot] = new Slots(1).all;

  /** Measures a request. `answered` is called with the number of inputs of each message. */
  function measure(job: Hashing, answered: (inputs: number) => void): Promise<number> {
    const request = (_: "measure", { inputs }: Args<"measure">): Promise<Times> => {
      answered(inputs.lengths.length);
      return Promise.resolve(timesOf([1, 2, 3, 4, 5, 6]));
    };
    if (!slot) throw new Error("there is no slot");
    const parts = [{ job, ...job.handOut(job.waiting) }];
    return hashBatch({ request } as unknown as Connection, slot, job, parts, calibration);
  }

  test("sends some inputs at a time, and adds up the times", async () => {
    const sent: number[] = [];
    const reported: number[] = [];
    let times: Times | undefined;
    const job = hashing(a, {
      inputs: 80,
      onTimes: (measured) => (times = measured),
      onProgress: ({ done }) => reported.push(done),
    });
    expect(await measure(job, (inputs) => sent.push(inputs))).toBe(80);
    expect(sent).toEqual([32, 32, 16]);
    expect(times).toEqual(timesOf([3, 6, 9, 12, 15, 18]));
    expect(reported).toEqual([0.4, 0.8, 1]);
    expect(job.isSettled).toBe(true);
  });

  test("ends after the present message when the request is aborted", async () => {
    const sent: number[] = [];
    const job = hashing(a, { inputs: 10_000, onTimes: () => undefined });
    const hashes = await measure(job, (inputs) => {
      sent.push(inputs);
      if (sent.length === 2) job.end();
    });
    expect([hashes, sent]).toEqual([64, [32, 32]]);
  });
});

test("taking all of 16,384 single requests looks at each of them some times only", () => {
  const jobs = Array.from({ length: 16_384 }, (_, index) => hashing(index % 2 === 0 ? a : b));
  const queue = queueOf(...jobs);
  looks = 0;
  let taken = 0;
  while (queue.lines.length > 0) taken += take(queue, { workers: 2 }).length;
  expect(taken).toBe(jobs.length);
  // 2 workers and 8 lanes: at most 128 requests are counted for a batch of 8.
  expect(looks).toBeLessThan(64 * jobs.length);
});

describe("the queue", () => {
  test("orders lines by their first requests, whatever is removed", () => {
    const jobs = [hashing(a), hashing(b), hashing(a), hashing(text("c")), hashing(b)] as const;
    const queue = queueOf(...jobs);
    const heads = (): Job[] => queue.lines.map(({ head }) => head);
    expect(heads()).toEqual([jobs[0], jobs[1], jobs[3]]);
    queue.remove(jobs[0]);
    expect(heads()).toEqual([jobs[1], jobs[2], jobs[3]]);
    queue.remove(jobs[1]);
    queue.remove(jobs[1]);
    expect(heads()).toEqual([jobs[2], jobs[3], jobs[4]]);
    expect(queue.firstFor(b)).toBe(jobs[4]);
    queue.remove(jobs[4]);
    expect(queue.firstFor(b)).toBeUndefined();
    queue.add(hashing(b));
    expect(queue.lines).toHaveLength(3);
    expect(queue.clear()).toHaveLength(3);
    expect(queue.lines).toEqual([]);
  });

  test("orders by priority and then by time, whatever is removed", () => {
    const random = generator(7);
    const queue = new Queue(1 << 20);
    const model: { job: Hashing; rank: number; time: number }[] = [];
    for (let time = 0; time < 3000; time += 1) {
      if (model.length > 0 && random() < 0.45) {
        const [gone] = model.splice(Math.floor(random() * model.length), 1);
        if (gone) queue.remove(gone.job);
      } else {
        const rank = Math.floor(random() * 3);
        const job = hashing(random() < 0.5 ? a : b, { priority: PRIORITIES[rank] ?? "low" });
        queue.add(job);
        model.push({ job, rank, time });
      }
      const sorted = model.toSorted((one, two) => one.rank - two.rank || one.time - two.time);
      const heads = [a, b].flatMap((key) => sorted.find(({ job }) => job.key === key) ?? []);
      heads.sort((one, two) => one.rank - two.rank || one.time - two.time);
      expect(queue.lines.map(({ head }) => head)).toEqual(heads.map(({ job }) => job));
    }
    const left = model.toSorted((one, two) => one.rank - two.rank || one.time - two.time);
    expect(queue.clear()).toEqual(left.map(({ job }) => job));
  });

  test("releases a key after all earlier requests for it, also those of low priority", () => {
    const [low, last] = [hashing(a, { priority: "low" }), release(a)];
    const late = hashing(a, { priority: "low" });
    expect(queueOf(low, last, late).clear()).toEqual([low, last, late]);
    const [first, early] = [hashing(a), release(a)];
    const behind = hashing(a, { priority: "low" });
    expect(queueOf(first, early, behind).clear()).toEqual([first, early, behind]);
  });

  test("prepares a key after an earlier release of it", () => {
    const [early, late] = [hashing(a, { inputs: 0 }), hashing(a, { inputs: 0 })];
    const [low, high] = [hashing(a, { priority: "low" }), hashing(a, { priority: "high" })];
    const [first, last] = [release(a), release(a)];
    const jobs = [low, early, first, high, late, last];
    expect(queueOf(...jobs).clear()).toEqual([high, early, low, first, late, last]);
  });

  test("prepares a key at once after a release of low priority was removed", () => {
    const [low, last] = [hashing(a, { priority: "low" }), release(a)];
    const queue = queueOf(low, last);
    queue.remove(last);
    const fill = hashing(a, { inputs: 0 });
    queue.add(fill);
    expect(queue.clear()).toEqual([fill, low]);
  });

  test("adds a request that only fills without a walk through those that wait", () => {
    const low = hashing(a, { priority: "low" });
    const queue = queueOf(low);
    let [next, steps] = [low.next, 0];
    Object.defineProperty(low, "next", {
      get: () => {
        steps += 1;
        return next;
      },
      set: (after: typeof next) => {
        next = after;
      },
    });
    for (let count = 0; count < 100; count += 1) queue.add(hashing(a, { inputs: 0 }));
    expect(queue.waiting.requests).toBe(101);
    expect(steps).toBeLessThan(10);
  });

  test("counts the bytes of all requests", () => {
    const block = new Uint8Array(1000);
    const links = [
      { block, hashingBlob: undefined },
      { block: undefined, hashingBlob: block.subarray(0, 76) },
    ];
    const jobs = [
      hashing(a, { inputs: 3 }),
      release(b),
      new Call("commitment", { input: block, hash: block.subarray(0, 32) }, nobody),
      new Call("chainWork", { start: 1, links } as unknown as Args<"chainWork">, nobody),
      new Call("loadRules", null, nobody),
    ];
    const queue = queueOf(...jobs);
    const bytes = [5 + 3, 5, 1032, 1076, 0];
    expect(jobs.map((job) => job.bytes)).toEqual(bytes);
    for (const [index, job] of jobs.entries()) {
      const left = bytes.slice(index).reduce((sum, each) => sum + each);
      expect(queue.waiting.bytes).toBe(left);
      queue.remove(job);
    }
    expect(queue.waiting).toEqual({ requests: 0, inputs: 0, bytes: 0 });
  });

  test("takes out the requests for a key that were there at a moment", () => {
    const [low, other, high] = [
      hashing(a, { priority: "low" }),
      hashing(b),
      hashing(a, { priority: "high" }),
    ];
    const released = release(a);
    const queue = queueOf(low, other, high, released);
    const { count } = queue;
    const late = hashing(a, { priority: "high" });
    queue.add(late);
    expect(queue.takeFor(a, count, 1)).toEqual([high]);
    expect(queue.takeFor(a, count, Infinity)).toEqual([low]);
    expect(queue.clear()).toEqual([late, other, released]);
  });

  test("knows its first request, and the first call", () => {
    const call = new Call("seedHeight", { height: 1 }, nobody);
    const [job, other] = [hashing(a), hashing(b)];
    const queue = queueOf(job, call, other);
    expect([queue.first, queue.firstCall]).toEqual([job, call]);
    queue.remove(job);
    expect(queue.first).toBe(call);
    queue.remove(call);
    expect([queue.first, queue.firstCall]).toEqual([other, undefined]);
  });

  test("tells keys apart whose hashes collide", () => {
    // FNV-1a of both is 0x00000000.
    const [one, two] = [
      Uint8Array.of(0xcc, 0x24, 0x31, 0xc4),
      Uint8Array.of(0xe0, 0x4d, 0x9f, 0xcb),
    ];
    const jobs = [hashing(one), hashing(two)];
    const queue = queueOf(...jobs);
    expect(queue.lines.map(({ head }) => head)).toEqual(jobs);
    expect(queue.firstFor(two)).toBe(jobs[1]);
    queue.remove(jobs[0] as Hashing);
    expect(queue.firstFor(two)).toBe(jobs[1]);
    expect(queue.firstFor(one)).toBeUndefined();
  });
});
