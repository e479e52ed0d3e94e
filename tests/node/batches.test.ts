/** The queue's lines, and the batches that are taken out of them. */
import { describe, expect, test } from "vitest";
import { takeBatch, type Limits } from "../../wasm/js/batches.js";
import { Call, Hashing, Release, type Job } from "../../wasm/js/job.js";
import { Queue } from "../../wasm/js/queue.js";
import type { Follow, Version } from "../../wasm/js/types.js";
import { text } from "./support.js";

const [a, b] = [text("key a"), text("key b")] as const;
const limits = { lanes: 8, workers: 1, before: Infinity };

let looks = 0;

/** Counts how often the scheduler looks at it. */
class Counted extends Hashing {
  override get waiting(): number {
    looks += 1;
    return super.waiting;
  }
}

interface Options {
  version?: Version;
  inputs?: number;
  onTimes?: () => void;
  onProgress?: NonNullable<Follow["onProgress"]>;
}

function hashing(key: Uint8Array, options: Options = {}): Counted {
  const { version = 1, inputs = 1, onTimes, onProgress } = options;
  const bytes = Array.from({ length: inputs }, (_, index) => ({ bytes: Uint8Array.of(index) }));
  const request = { key, version, inputs: bytes, ...(onTimes && { onTimes }) };
  const job = new Counted(request, { onProgress }, () => undefined);
  job.result.catch(() => undefined);
  return job;
}

function release(key: Uint8Array): Release {
  return new Release(key, undefined, () => undefined);
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

  test.each<[string, (first: Hashing) => Job]>([
    ["of another version", () => hashing(a, { version: 2 })],
    ["to release the cache", () => release(a)],
    ["to measure", () => hashing(a, { onTimes: () => undefined })],
  ])("ends before a request %s", (_, between) => {
    const first = hashing(a);
    const queue = queueOf(first, between(first), hashing(a));
    expect(take(queue)).toEqual([[first, 1]]);
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

  test("knows its first request, and the first call", () => {
    const call = new Call("seedHeight", { height: 1 }, undefined, () => undefined);
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
