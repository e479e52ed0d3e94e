/** Workers that cannot start, and caches that cannot be filled. */
import { once } from "node:events";
import type * as threads from "node:worker_threads";
import { afterEach, expect, test, vi } from "vitest";
import { RandomX, eventually } from "./support.js";

const nativeUrl = new URL("fake-addon.cjs", import.meta.url);
const inputs = Array.from({ length: 100 }, (_, index) => new Uint8Array(32).fill(index));

/** Workers that have started, and the most that may. */
const workers: threads.Worker[] = [];
let most = 0;
let refused = 0;

// The package reads this object. An import would be a copy of its fields.
const module = process.getBuiltinModule("node:worker_threads") as {
  Worker: typeof threads.Worker;
};
module.Worker = class extends module.Worker {
  constructor(...args: ConstructorParameters<typeof threads.Worker>) {
    if (workers.length === most) {
      refused += 1;
      throw new Error("no memory");
    }
    super(...args);
    workers.push(this);
  }
};

afterEach(() => {
  vi.restoreAllMocks();
  workers.length = 0;
  refused = 0;
});

/** Lets as much time pass as the package waits before it tries again. */
function passPause(): void {
  const now = performance.now.bind(performance);
  vi.spyOn(performance, "now").mockImplementation(() => now() + 11_000);
}

test("a Node.js without the modules that the package reads is refused by its version", async () => {
  vi.spyOn(process, "getBuiltinModule").mockImplementation(() => undefined);
  await expect(RandomX.create({ engine: "native", nativeUrl })).rejects.toMatchObject({
    code: "unsupported",
    message: "RandomX needs module workers, or Node 20.16, 22.3 or later",
  });
});

test("a worker that could not start is started for later calls, after a pause", async () => {
  most = 1;
  using randomx = await RandomX.create({ engine: "native", nativeUrl, threads: 3 });
  await eventually(() => {
    expect(refused).toBe(1);
    expect(randomx.configuration.threads).toBe(1);
  });
  most = 2;
  expect(await randomx.hashMany("00", inputs)).toEqual(inputs);
  expect([workers.length, refused]).toEqual([1, 1]);

  // Without any worker there is no pause.
  await workers[0]?.terminate();
  expect(await randomx.hashMany("00", inputs)).toEqual(inputs);
  expect([workers.length, refused]).toEqual([2, 1]);

  most = 4;
  passPause();
  expect(randomx.configuration.threads).toBe(3);
  expect(await randomx.hashMany("00", inputs)).toEqual(inputs);
  await eventually(() => {
    expect(randomx.stats().workers.started).toBe(3);
  });
  expect(refused).toBe(1);
});

test("so is the worker that fills caches behind the hashes", async () => {
  most = 1;
  using randomx = await RandomX.create({ engine: "native", nativeUrl, threads: 1, slots: 2 });
  await randomx.prepare("00");
  // The other worker fills the cache itself.
  await randomx.prepare("01");
  expect(refused).toBe(1);
  most = 2;
  await randomx.prepare("02");
  expect([workers.length, refused]).toEqual([1, 1]);

  passPause();
  await randomx.prepare("03");
  expect([workers.length, refused]).toEqual([2, 1]);
});

test("a worker without locks starts although its page has sent the name of one", async () => {
  most = 1;
  const worker = new module.Worker(new URL("../../wasm/dist/js/worker.js", import.meta.url));
  const args = { lock: "a lock", engines: ["native"], nativeUrl: nativeUrl.href, features: {} };
  const answered = once(worker, "message");
  worker.postMessage({ type: "request", operation: "start", args });
  expect(await answered).toMatchObject([{ type: "result", result: { held: false } }]);
  await worker.terminate();
});

test("without any worker all waiting calls learn why, by one attempt", async () => {
  most = 1;
  using randomx = await RandomX.create({ engine: "native", nativeUrl, threads: 1 });
  await workers[0]?.terminate();
  const calls = [
    ...inputs.map((input) => randomx.hash("00", input)),
    randomx.hashMany("01", inputs),
    randomx.seedHeight(1),
  ];
  for (const result of await Promise.allSettled(calls)) {
    expect(result).toMatchObject({ status: "rejected", reason: { code: "worker-failed" } });
  }
  expect(refused).toBe(1);
  most = 2;
  expect(await randomx.hashMany("00", inputs)).toEqual(inputs);
});

test("all calls that wait for a cache fail with it, by one attempt", async () => {
  most = 1;
  using randomx = await RandomX.create({ engine: "native", nativeUrl, threads: 1, slots: 2 });
  await randomx.prepare("00");
  const [worker] = workers;
  if (!worker) throw new Error("no worker was started");
  const post = worker.postMessage.bind(worker);
  const late: Promise<unknown>[] = [];
  let fills = 0;
  vi.spyOn(worker, "postMessage").mockImplementation((message: { operation: string }) => {
    if (message.operation === "fill") fills += 1;
    // This one comes after the attempt has begun, so it gets another one.
    if (fills === 1 && late.length === 0) late.push(randomx.hash("ff", "00"));
    post(message);
  });
  const failing = [...inputs.map((input) => randomx.hash("ff", input)), randomx.prepare("ff")];
  for (const result of await Promise.allSettled(failing)) {
    expect(result).toMatchObject({ status: "rejected", reason: { code: "out-of-memory" } });
  }
  await expect(late[0]).rejects.toMatchObject({ code: "out-of-memory" });
  expect(fills).toBe(2);
  expect(await randomx.hashMany("00", inputs)).toEqual(inputs);
});
