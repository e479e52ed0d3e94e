/** Batches that workers receive before they need them, with an add-on whose datasets cost nothing. */
import { Worker } from "node:worker_threads";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type * as product from "../../wasm/js/index.js";
import { RandomX, eventually, watchWorkers } from "./support.js";

const nativeUrl = new URL("fake-addon.cjs", import.meta.url);
const workers = watchWorkers();

/** The requests that each worker has now, and the most that one had. */
const requests = new Map<Worker, number>();
let most = 0;

/** The operations requested from workers. */
const operations: string[] = [];

/** The slots whose cache each worker hashed with. */
const known = new Map<Worker, Set<number>>();

let randomx: product.RandomX;

async function create(options: product.CreateOptions): Promise<void> {
  randomx = await RandomX.create({ engine: "native", nativeUrl, mode: "fast", ...options });
  // The first batch finds out that there is a dataset.
  await Promise.all(randomx.verifyShares(shares(8 * randomx.configuration.threads)));
  most = 0;
}

function shares(count: number, options: Partial<product.Share> = {}): product.Share[] {
  const blob = (index: number): Uint8Array => new Uint8Array(76).fill(1 + (index % 250));
  return Array.from({ length: count }, (_, index) => ({
    ...{ seed: "00", blob: blob(index), hash: blob(index).slice(0, 32), difficulty: 1 },
    ...options,
  }));
}

function statuses(verdicts: product.ShareVerdict[]): Set<string> {
  return new Set(verdicts.map(({ status }) => status));
}

beforeEach(() => {
  const postMessage = Reflect.get(Worker.prototype, "postMessage") as (message: unknown) => void;
  vi.spyOn(Worker.prototype, "postMessage").mockImplementation(function (this: Worker, message) {
    if (!requests.has(this)) {
      this.on("message", ({ type }: { type: string }) => {
        if (type === "result") requests.set(this, (requests.get(this) ?? 0) - 1);
      });
    }
    const { operation, args } = message as { operation: string; args: { slot: number } };
    operations.push(operation);
    if (operation === "hash") known.set(this, (known.get(this) ?? new Set()).add(args.slot));
    const now = (requests.get(this) ?? 0) + 1;
    requests.set(this, now);
    most = Math.max(most, now);
    postMessage.call(this, message);
  });
});

afterEach(() => {
  randomx.dispose();
  vi.restoreAllMocks();
  requests.clear();
  operations.length = 0;
  known.clear();
  workers.length = 0;
});

describe("a worker", () => {
  test.each<[string, product.CreateOptions]>([
    ["with a dataset", { threads: 2 }],
    ["in light mode, while many shares wait", { threads: 2, mode: "light" }],
  ])("has its next batch while it hashes %s, and no more", async (_, options) => {
    await create(options);
    expect(statuses(await Promise.all(randomx.verifyShares(shares(2000))))).toEqual(
      new Set(["valid"]),
    );
    expect(most).toBe(2);
    const { hashes, queue } = randomx.stats();
    expect(hashes.count).toBe(2016);
    expect(queue).toEqual({ requests: 0, inputs: 0, bytes: 0 });
  });

  test.each<[string, product.CreateOptions, number]>([
    ["in light mode, where a batch takes long", { threads: 1, mode: "light" }, 36],
    ["while too little waits for all workers", { threads: 2 }, 12],
  ])("gets one batch after another %s", async (_, options, count) => {
    await create(options);
    expect(statuses(await Promise.all(randomx.verifyShares(shares(count))))).toEqual(
      new Set(["valid"]),
    );
    expect(most).toBe(1);
  });

  test("hashes at most two batches before a share of high priority", async () => {
    await create({ threads: 1 });
    const order: string[] = [];
    const note = (name: string) => (verdict: Promise<product.ShareVerdict>) =>
      verdict.then(() => order.push(name));
    const normal = randomx.verifyShares(shares(400)).map(note("normal"));
    await normal[0];
    const before = order.length;
    const high = randomx.verifyShares(shares(1, { priority: "high" })).map(note("high"));
    await Promise.all([...normal, ...high]);
    expect(order.indexOf("high") - before).toBeLessThanOrEqual(2 * 8);
  });

  test("that dies fails its two batches, and another one hashes the others", async () => {
    await create({ threads: 1 });
    const verdicts = randomx.verifyShares(shares(400));
    await verdicts[0];
    await workers[0]?.terminate();
    const found = (await Promise.all(verdicts)).map(({ status }) => status);
    const failed = found.filter((status) => status === "failed").length;
    expect(failed).toBeGreaterThan(0);
    expect(failed).toBeLessThanOrEqual(16);
    expect(found.filter((status) => status === "valid")).toHaveLength(400 - failed);
  });

  test("is not kept from another key by the batches of one", async () => {
    await create({ threads: 1, slots: 2 });
    await randomx.prepare("01");
    const first = randomx.verifyShares(shares(400));
    const other = randomx.verifyShares(shares(8, { seed: "01" }));
    const last = randomx.verifyShares(shares(400));
    expect(statuses(await Promise.all([...first, ...other, ...last]))).toEqual(new Set(["valid"]));
  });
});

describe("under load", () => {
  /** Each worker of a new instance in light mode knows two keys. */
  async function createWithTwoKeys(threads: number): Promise<void> {
    await create({ threads, slots: 2, mode: "light" });
    await eventually(async () => {
      // A worker that starts late leaves all of this to the others.
      for (const key of ["00", "01"]) await randomx.hashMany(key, Array(32 * threads).fill("02"));
      expect([...known.values()].map(({ size }) => size)).toEqual(Array(threads).fill(2));
    });
  }

  test("a request without inputs is answered, and shares after it are hashed", async () => {
    await createWithTwoKeys(2);
    const before = randomx.verifyShares(shares(1000));
    const preparing = randomx.prepare("01");
    const after = randomx.verifyShares(shares(1000));
    await preparing;
    expect(statuses(await Promise.all([...before, ...after]))).toEqual(new Set(["valid"]));
  });

  test("workers forget a released cache", async () => {
    await createWithTwoKeys(2);
    const before = randomx.verifyShares(shares(1000));
    const releasing = randomx.release("01");
    const after = randomx.verifyShares(shares(8000));
    await releasing;
    await eventually(() => {
      expect(operations.filter((operation) => operation === "release")).toHaveLength(2);
    });
    expect(randomx.stats().queue.inputs).toBeGreaterThan(0);
    await Promise.all([...before, ...after]);
  });

  test("hashes behind a request to prepare their key get a slot", async () => {
    await createWithTwoKeys(3);
    let isHashed = false;
    const load = Array.from({ length: 24 }, async (_, index) => {
      while (!isHashed) await randomx.hash(index % 2 === 0 ? "00" : "01", "02");
    });
    const preparing = randomx.prepare("02");
    await randomx.hash("02", "02");
    isHashed = true;
    await Promise.all([...load, preparing]);
  });
});
