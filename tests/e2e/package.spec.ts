/** The package's promises: order, dispose, arguments, and recovery from dead workers. */
import { expect, test } from "@playwright/test";
import { expectNoWorker, KNOWN, openPackage, type Outcome } from "./package-tools.js";
import { DEATHS, fillingWorker } from "./support.js";

test.beforeEach(({ page }) => openPackage(page));

test("importing runs nothing", async ({ page }) => {
  await page.waitForTimeout(300);
  expect(page.workers()).toHaveLength(0);
});

test("requests run in order, each with its own key; inputs are copied", async ({ page }) => {
  const result = await page.evaluate(async () => {
    const { key, input, hex } = window;
    const randomx = await window.harness.RandomX.create();
    const order: number[] = [];
    const changing = input.slice();
    const requests = [
      randomx.hash(key, changing),
      randomx.hash("00", input, { version: 2 }),
      randomx.hash(hex(key), hex(input).toUpperCase()),
    ].map((request, index) => request.finally(() => order.push(index)));
    changing.fill(0);
    const hashes = (await Promise.all(requests)).map(hex);
    randomx.dispose();
    return { order, hashes, length: changing.length, buffer: changing.buffer.byteLength };
  });
  expect(result.order).toEqual([0, 1, 2]);
  expect(result.hashes[0]).toBe(KNOWN);
  expect(result.hashes[2]).toBe(KNOWN);
  expect(result.hashes[1]).not.toBe(KNOWN);
  expect([result.length, result.buffer]).toEqual([14, 14]);
});

test(
  "disposing while preparing rejects everything, and ends the worker; `using` disposes",
  { tag: "@full" },
  async ({ page }) => {
    const codes = await page.evaluate(async () => {
      const randomx = await window.harness.RandomX.create();
      const preparing = window.outcome(
        randomx.prepare("00", {
          onProgress: ({ done }) => {
            if (done > 0.1) randomx[Symbol.dispose]();
          },
        }),
      );
      return [(await preparing).code, (await window.outcome(randomx.prepare("00"))).code];
    });
    expect(codes).toEqual(["disposed", "disposed"]);
    await expectNoWorker(page);
  },
);

for (const { name, die, words } of DEATHS) {
  test(
    `a worker that ${name}: its call rejects, then a new worker`,
    { tag: "@full" },
    async ({ page }) => {
      const settled = page.evaluate(async () => {
        const { key, input, hex, outcome } = window;
        const randomx = await window.harness.RandomX.create({ threads: 1 });
        const failed = await outcome(randomx.prepare("99"));
        const next = hex(await randomx.hash(key, input));
        randomx.dispose();
        return { failed, next };
      });
      await (await fillingWorker(page)).evaluate(die);
      const { failed, next } = await settled;
      expect(failed.code).toBe("worker-failed");
      expect(failed.message).toMatch(words);
      expect(next).toBe(KNOWN);
      await expectNoWorker(page);
    },
  );
}

test("every method names a wrong argument, and starts nothing", async ({ page }) => {
  const outcomes = await page.evaluate(async () => {
    const { key, input, outcome } = window;
    const wrong = (value: unknown): never => value as never;
    const randomx = await window.harness.RandomX.create();
    const block = { seedHash: "00".repeat(32), hashingBlob: "00", difficulty: "1" };
    const calls: [string, () => Promise<unknown>][] = [
      ["key", () => randomx.prepare("0")],
      ["key", () => randomx.prepare(wrong(undefined))],
      ["key", () => randomx.hash("zz", input)],
      ["input", () => randomx.hash(key, new Uint8Array((1 << 20) + 1))],
      ["version", () => randomx.hash(key, input, { version: wrong(3) })],
      ["inputs", () => randomx.hashMany(key, wrong("00"))],
      ["inputs[1]", () => randomx.hashMany(key, ["00", "0"])],
      ["version", () => randomx.hashMany(key, [], { version: wrong("2") })],
      ["block", () => randomx.verifyBlock(wrong(null))],
      ["seedHash", () => randomx.verifyBlock({ ...block, seedHash: "00".repeat(31) })],
      ["hashingBlob", () => randomx.verifyBlock({ ...block, hashingBlob: wrong(undefined) })],
      ...[0, -1, 0.5, NaN, Infinity, 2 ** 53, 1n << 256n, "1.5", ""].map(
        (difficulty): [string, () => Promise<unknown>] => [
          "difficulty",
          () => randomx.verifyBlock({ ...block, difficulty }),
        ],
      ),
      ["hash", () => randomx.commitment(input, "00".repeat(33))],
      ["input", () => randomx.commitment("x", "00".repeat(32))],
      ["height", () => randomx.seedHeight(-1)],
      ["height", () => randomx.seedHeight(NaN)],
      ["options", () => randomx.prepare(key, wrong(null))],
      ["options", () => randomx.hash(key, input, wrong(2))],
      ["signal", () => randomx.prepare(key, { signal: wrong({ aborted: true }) })],
      ["onProgress", () => randomx.prepare(key, { onProgress: wrong("log") })],
    ];
    const outcomes: [string, Outcome][] = [];
    for (const [name, call] of calls) outcomes.push([name, await outcome(call())]);
    const works = await randomx.seedHeight(2113);
    const caches = randomx.stats().caches.count;
    randomx.dispose();
    return [...outcomes, ["works", { value: works }], ["caches", { value: caches }]] as [
      string,
      Outcome,
    ][];
  });
  expect(outcomes.pop()).toEqual(["caches", { value: 0 }]);
  expect(outcomes.pop()).toEqual(["works", { value: 2048 }]);
  expect(outcomes.length).toBeGreaterThan(25);
  for (const [name, { code, message }] of outcomes) {
    expect([name, code]).toEqual([name, "invalid-argument"]);
    expect(message?.startsWith(`${name}: `), message).toBe(true);
  }
});

test(
  "empty keys, empty inputs and inputs of 1 MiB; commitments",
  { tag: "@full" },
  async ({ page }) => {
    const result = await page.evaluate(async () => {
      const { input, hex } = window;
      const randomx = await window.harness.RandomX.create();
      const empty = hex(await randomx.hash("", ""));
      const most = (await randomx.hash(new Uint8Array(1 << 20), new Uint8Array(1 << 20))).length;
      const none = (await randomx.hashMany("", [])).length;
      const commitment = hex(
        await randomx.commitment(
          input,
          "22ec6b861b3eb23686b2efbad69513c967ecfce80983df66c9c5b4fbfb4cdb6f",
        ),
      );
      randomx.dispose();
      return { empty, most, none, commitment };
    });
    expect(result).toEqual({
      empty: "3123524bf9b08bb26a819572c58672f0196bf9aac2982aed0a39e6096f0b72a1",
      most: 32,
      none: 0,
      commitment: "133be717399046b03ae82ce8ddd9d1ee4d3ea7fca03a50dec09b6848cbb98e18",
    });
  },
);
