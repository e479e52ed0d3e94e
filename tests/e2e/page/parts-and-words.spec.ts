/** The parts of a block, the words for times, and pasted texts, as the page reads them. No page is opened. */
import { expect, test } from "../browsers/page.js";
import { day, moment } from "../../../web/shell/words.js";
import { partsOfBlock } from "../../../web/views/verify/parts.js";
import { readText } from "../../../web/views/verify/read.js";

test("a block of 1 MiB with 30,000 outputs is divided at once", { tag: "@chromium" }, () => {
  const varint = (value: number): string => {
    const byte = (value & 0x7f) | (value > 0x7f ? 0x80 : 0);
    const digits = byte.toString(16).padStart(2, "0");
    return value > 0x7f ? digits + varint(value >> 7) : digits;
  };
  const outputs = (count: number): string =>
    `0002${"ab".repeat(32)}800103${"CD".repeat(33)}`.repeat(count / 2);
  const block = (count: number, written = count): string =>
    `1010${varint(1_700_000_000)}${"11".repeat(32)}01020304` +
    `023c01ff${varint(3_000_000)}${varint(count)}${outputs(written)}0100` +
    `00` +
    `00`;
  const names = (hex: string): string[] => partsOfBlock(hex).map(({ name }) => name);
  const many = block(30_000);
  const part = partsOfBlock(many).find(({ name }) => name.endsWith(": outputs"));
  expect(part?.hex).toBe(outputs(30_000));
  expect(names(many).at(-1)).toBe("Their hashes");
  // The number of outputs is a claim.
  expect(names(block(2 ** 30, 2)).slice(-2)).toEqual([
    "Miner transaction: outputs",
    "Could not be read",
  ]);

  const times = Array.from({ length: 5 }, () => {
    const start = performance.now();
    partsOfBlock(many);
    return performance.now() - start;
  });
  expect(Math.min(...times)).toBeLessThan(50);
});

test("days and times are whole, or out of range", { tag: "@chromium" }, () => {
  expect([day(1_700_000_000), moment(1_700_000_000)]).toEqual([
    "2023-11-14",
    "2023-11-14 22:13 UTC",
  ]);
  // The first day of the year 10,000.
  expect([day(253_402_300_800), moment(253_402_300_800)]).toEqual([
    "+010000-01-01",
    "+010000-01-01 00:00 UTC",
  ]);
  expect([day(1e13), moment(1e13)]).toEqual(["out of range", "out of range"]);
});

test(
  "a block is read from some levels of JSON, and not from very many",
  { tag: "@chromium" },
  () => {
    const nested = (levels: number, text: string): string =>
      '{"result":'.repeat(levels) + text + "}".repeat(levels);
    const block = '{"blob":"aa"}';
    expect(readText(nested(3, block))).toEqual({ block: "aa" });
    expect(readText('{"given":{"block":"aa"},"block":"bb"}')).toEqual({ block: "aa" });
    const missing = "expected a block or a hashing blob in the JSON";
    expect(() => readText(nested(100, block))).toThrow(missing);
    expect(() => readText(nested(300_000, block))).toThrow(missing);
    // As long as the largest file.
    const most = `expected at most ${4 << 20} characters, got ${(4 << 20) + 1} characters`;
    expect(() => readText(`{${" ".repeat(4 << 20)}`)).toThrow(most);
  },
);
