/** A cache in the browser's storage: it is read on a later visit, and never trusted if it is not whole. */
import { anotherHarness, expect, test } from "../browsers/test.js";
import { known } from "./known.js";

const [one, , , two] = known.filter(({ file }) => file === "reference-hashes");
if (!one || !two) throw new Error("tests/vectors: a batch of known hashes is missing");

/** Enough to be idle and to write 256 MiB on a busy machine, in milliseconds. */
const PATIENCE = 60_000;

/** Why a browser keeps nothing. */
const NO_STORAGE = "WebKitGTK has no origin private file system";

for (const [threads, tag] of [
  [1, "@full"],
  [2, "@chromium"],
] as const) {
  const title = `a later visit with ${threads} workers reads the last key's cache`;
  test(title, { tag }, async ({ engine, harness }) => {
    test.skip(engine === "webkit", NO_STORAGE);
    const first = await harness.call("visit", threads, one, PATIENCE);
    expect(first).toMatchObject({ hashes: one.hashes, wasRead: false, isKept: true });
    const second = await harness.call("visit", threads, one, 0);
    expect(second).toMatchObject({ hashes: one.hashes, wasRead: true, isKept: true });

    const other = await harness.call("visit", threads, two, 0);
    expect(other).toMatchObject({ hashes: two.hashes, wasRead: false, isKept: false });
    expect(await harness.call("forget")).toBe("deleted");
    expect(await harness.call("forget")).toBe("none");
    const third = await harness.call("visit", threads, one, 0);
    expect(third).toMatchObject({ hashes: one.hashes, wasRead: false });
  });
}

test("a damaged cache is filled again", { tag: "@full" }, async ({ engine, harness }) => {
  test.skip(engine === "webkit", NO_STORAGE);
  for (const damage of ["spoil", "cutShort"] as const) {
    await harness.call("visit", 2, one, PATIENCE);
    await harness.call(damage);
    const next = await harness.call("visit", 2, one, PATIENCE);
    expect(next, damage).toMatchObject({ hashes: one.hashes, wasRead: false, isKept: true });
  }
  await harness.call("forget");
});

test("of two instances one keeps its cache", { tag: "@full" }, async ({ engine, harness }) => {
  test.skip(engine === "webkit", NO_STORAGE);
  const visits = await harness.call("visitTwice", [one, two], PATIENCE);
  expect(visits.map(({ hashes }) => hashes)).toEqual([one.hashes, two.hashes]);
  const again = [await harness.call("visit", 1, one, 0), await harness.call("visit", 1, two, 0)];
  expect(again.filter(({ wasRead }) => wasRead)).toHaveLength(1);
  await harness.call("forget");
});

test("two tabs that open at once read one cache", { tag: "@full" }, async ({ engine, harness }) => {
  test.skip(engine === "webkit", NO_STORAGE);
  await harness.call("visit", 2, one, PATIENCE);
  const other = await anotherHarness(harness);
  const tabs = [harness, other];
  const visits = await Promise.all(tabs.map((tab) => tab.call("visit", 1, one, 0)));
  await other.tab.close();
  expect(visits.map(({ hashes }) => hashes)).toEqual([one.hashes, one.hashes]);
  const read = visits.filter(({ wasRead }) => wasRead);
  if (engine === "chromium") expect(read).toHaveLength(2);
  // Firefox lets one worker use a file at a time.
  else expect(read.length).toBeGreaterThan(0);
  await harness.call("forget");
});

test(
  "without such a storage the option has no effect",
  { tag: "@full" },
  async ({ engine, harness }) => {
    test.skip(engine !== "webkit", "the other browsers have one");
    const only = await harness.call("visit", 2, one, 5000);
    expect(only).toMatchObject({ hashes: one.hashes, wasRead: false, isKept: false });
    expect(await harness.call("forget")).toBe("none");
  },
);
