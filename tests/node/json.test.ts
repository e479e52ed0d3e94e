/** The reader of a node's JSON, against `JSON.parse`. */
import { expect, test } from "vitest";
import { JsonReader, type Kept, type Wanted } from "../../wasm/js/monero/json.js";
import { NotJson, TooLong } from "../../wasm/js/monero/text.js";
import { random } from "./monero/support.js";

const WANTED: Wanted = new Map([
  ["a", 20],
  ["b", 20],
  ["long", 1000],
]);

function read(json: string, cut = json.length, wanted = WANTED, longest = 1 << 20): unknown {
  const reader = new JsonReader(wanted, longest);
  const bytes = new TextEncoder().encode(json);
  for (let at = 0; at < bytes.length; at += cut) reader.push(bytes.subarray(at, at + cut));
  return reader.end();
}

/** Leaves out what is not wanted. */
function kept(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(kept);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([name]) => WANTED.has(name));
  return Object.fromEntries(entries.map(([name, value]) => [name, kept(value)]));
}

const NAMES = ["a", "b", "c", "long", 'with "quotes"', "ä", "\u{1f600}", "__proto__"];
const VALUES = [0, -1.5e-7, 2 ** 53, true, false, null, "", "text", '\\"\n\t\u0001', "ß\u{1f600}"];

/** Makes a random value. */
function made(pick: (limit: number) => number, depth: number): unknown {
  const kind = depth === 0 ? 2 : pick(4);
  if (kind === 0) return Array.from({ length: pick(4) }, () => made(pick, depth - 1));
  if (kind > 1) return VALUES[pick(VALUES.length)];
  const entries = Array.from({ length: pick(5) }, () => [
    NAMES[pick(NAMES.length)],
    made(pick, depth - 1),
  ]);
  return Object.fromEntries(entries) as unknown;
}

test("keeps the wanted fields, however the bytes are cut", () => {
  const pick = random(7);
  for (let round = 0; round < 3000; round += 1) {
    const value = made(pick, 5);
    const json = JSON.stringify(value, undefined, pick(3));
    expect(read(json, 1 + pick(9))).toEqual(kept(value));
  }
});

test("refuses what `JSON.parse` refuses", () => {
  const pick = random(8);
  let refused = 0;
  for (let round = 0; round < 5000; round += 1) {
    const json = JSON.stringify({ a: made(pick, 4) });
    const at = pick(json.length);
    const stranger = '{}[],:"x1'[pick(9)] ?? "";
    const cut = json.slice(0, at) + (pick(2) === 0 ? "" : stranger) + json.slice(at + 1);
    // A cut may leave half a character, which no bytes stand for.
    const broken = new TextDecoder().decode(new TextEncoder().encode(cut));
    let parsed: unknown;
    try {
      parsed = kept(JSON.parse(broken));
    } catch {
      refused += 1;
      expect(() => read(broken, 1 + pick(5)), broken).toThrow(NotJson);
      continue;
    }
    expect(read(broken, 1 + pick(5)), broken).toEqual(parsed);
  }
  expect(refused).toBeGreaterThan(1000);
});

test.each([
  "",
  " ",
  "{",
  '{"a"}',
  '{"a":}',
  "[1,]",
  "{,}",
  "1 2",
  "nul",
  "tru e",
  "[1}",
  '{"a":1]',
])("refuses %j", (json) => {
  expect(() => read(json)).toThrow(NotJson);
});

test("keeps a bounded part of a text, and one character more", () => {
  expect(read(`{"a":"${"x".repeat(5000)}"}`, 100)).toEqual({ a: "x".repeat(21) });
  expect(read(`{"long":"${"x".repeat(1000)}"}`, 7)).toEqual({ long: "x".repeat(1000) });
  // A skipped text may be of any length.
  expect(read(`{"c":"${"\\n".repeat(100_000)}","a":1}`, 999)).toEqual({ a: 1 });
});

test("bounds depth, numbers and the values that it keeps", () => {
  expect(() => read("[".repeat(33))).toThrow(NotJson);
  expect(read(`${"[".repeat(32)}${"]".repeat(32)}`)).toBeDefined();
  expect(() => read(`{"a":${"1".repeat(100)}}`)).toThrow(NotJson);
  expect(() => read(`{"a":[${"{},".repeat(50_000)}{}]}`)).toThrow(NotJson);
  expect(read(`{"c":[${"{},".repeat(50_000)}{}],"b":2}`)).toEqual({ b: 2 });
});

const HEX: Wanted = new Map<string, Kept>([
  ["blob", { hex: 300 }],
  ["a", 20],
]);

test("keeps the bytes of hex digits, however they are cut", () => {
  const pick = random(9);
  for (const length of [0, 1, 63, 64, 65, 127, 128, 129, 299, 300]) {
    const bytes = Uint8Array.from({ length }, () => pick(256));
    const json = JSON.stringify({ blob: Buffer.from(bytes).toString("hex"), a: "0a" });
    for (const cut of [1, 2, 7, json.length]) {
      const { blob, a } = read(json, cut, HEX) as { blob: Uint8Array; a: string };
      expect(blob).toEqual(bytes);
      expect(blob.buffer.byteLength).toBe(length);
      expect(a).toBe("0a");
    }
  }
});

test.each([
  ["an odd number of digits", "abc"],
  ["capitals", "AB"],
  ["another letter", "0g"],
  ["an escaped digit", "\\u0030a"],
  ["an escape", "0a\\n"],
])("keeps no bytes of hex with %s", (_, text) => {
  for (const cut of [1, 5, 1000]) {
    expect(read(`{"blob":"${text}","a":1}`, cut, HEX)).toEqual({ blob: undefined, a: 1 });
  }
});

test("refuses hex that ends too early or has a control character", () => {
  expect(() => read('{"blob":"0a', 3, HEX)).toThrow(NotJson);
  expect(() => read('{"blob":"0a\n"}', 3, HEX)).toThrow(NotJson);
  expect(() => read('{"blob":"0a\\x"}', 3, HEX)).toThrow(NotJson);
});

test("refuses texts that are longer than any that is expected", () => {
  for (const cut of [1, 5, 1000]) {
    expect(() => read(`{"blob":"${"0a".repeat(301)}"}`, cut, HEX)).toThrow(TooLong);
    for (const field of ["a", "other"]) {
      const json = `{"${field}":"${"x".repeat(64)}"}`;
      expect(read(json, cut, WANTED, 64)).toEqual(field === "a" ? { a: "x".repeat(21) } : {});
      expect(() => read(json, cut, WANTED, 63)).toThrow(TooLong);
    }
  }
});

test("keeps no bytes of hex in a list", () => {
  expect(read('{"blob":["0a","0b"]}', 4, HEX)).toEqual({ blob: ["", ""] });
});

test.each([
  '{"a":1,"a":1}',
  '{"a":1,"c":2,"\\u0061":null}',
  '{"a":{"b":1},"a":{"b":1}}',
  '{"c":1,"a":[{"b":[],"a":2,"b":[]}]}',
  '{"a":"x","a":"y"}',
])("refuses a wanted field that an object has twice: %s", (json) => {
  for (const cut of [1, 5, 1000]) expect(() => read(json, cut)).toThrow(NotJson);
});

test("takes any number of fields that are not wanted, and of objects with the same field", () => {
  expect(read('{"c":1,"c":2,"a":3}')).toEqual({ a: 3 });
  expect(read('{"c":{"a":1,"a":2},"b":1}')).toEqual({ b: 1 });
  expect(read('{"a":{"a":[{"a":1},{"a":2}]}}')).toEqual({ a: { a: [{ a: 1 }, { a: 2 }] } });
});

test("bounds the spaces between two tokens", () => {
  expect(read(`{${" ".repeat(1024)}"a":${"\n".repeat(1024)}1}`, 100)).toEqual({ a: 1 });
  expect(() => read(`{"a":${" ".repeat(1025)}1}`, 100)).toThrow(NotJson);
});
