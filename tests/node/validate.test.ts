/** Checks of arguments: accepted values, and the message for each refused one. */
import { describe, expect, test } from "vitest";
import { RandomXError } from "../../wasm/js/errors.js";
import * as validate from "../../wasm/js/validate.js";

const MIB = 1 << 20;

/** Returns the message of the `invalid-argument` that a call throws. */
function complaint(call: () => unknown): string {
  try {
    call();
  } catch (error) {
    expect(error).toBeInstanceOf(RandomXError);
    expect(error).toMatchObject({ name: "RandomXError", code: "invalid-argument" });
    return (error as RandomXError).message;
  }
  throw new Error("nothing was thrown");
}

describe("bytes", () => {
  test.each([
    ["nothing", "", []],
    ["lower and upper case", "00fFAa", [0, 255, 170]],
    ["a Uint8Array", Uint8Array.of(1, 2), [1, 2]],
    ["a Buffer", Buffer.from([3, 4]), [3, 4]],
    ["a part of a buffer", new Uint8Array([9, 5, 6, 9]).subarray(1, 3), [5, 6]],
    ["shared memory", new Uint8Array(new SharedArrayBuffer(2)), [0, 0]],
  ])("takes %s", (_, value, expected) => {
    const copy = validate.bytes("key", value);
    expect([...copy]).toEqual(expected);
    expect(copy.buffer).toBeInstanceOf(ArrayBuffer);
    expect(copy.buffer.byteLength).toBe(expected.length);
  });

  test("takes a Uint8Array without a prototype", () => {
    const bytes = Object.setPrototypeOf(Uint8Array.of(1, 2), null) as unknown;
    expect([...validate.bytes("key", bytes)]).toEqual([1, 2]);
  });

  test("refuses a detached buffer, which looks empty", () => {
    const bytes = new Uint8Array(32);
    structuredClone(bytes.buffer, { transfer: [bytes.buffer] });
    expect(bytes).toHaveLength(0);
    expect(complaint(() => validate.bytes("key", bytes))).toBe(
      "key: expected bytes, got a Uint8Array whose buffer is detached or too short",
    );
  });

  test("copies", () => {
    const own = Uint8Array.of(1);
    const copy = validate.bytes("key", own);
    own[0] = 2;
    expect(copy[0]).toBe(1);
    expect(own.buffer.byteLength).toBe(1);
  });

  test("takes 1 MiB, and not a byte more", () => {
    expect(validate.bytes("input", new Uint8Array(MIB))).toHaveLength(MIB);
    expect(validate.bytes("input", "ab".repeat(MIB))).toHaveLength(MIB);
    const message = "input: expected at most 1048576 bytes, got 1048577 bytes";
    expect(complaint(() => validate.bytes("input", new Uint8Array(MIB + 1)))).toBe(message);
    expect(complaint(() => validate.bytes("input", "ab".repeat(MIB + 1)))).toBe(message);
    expect(complaint(() => validate.bytes("input", `${"ab".repeat(MIB)}c`))).toBe(message);
  });

  test.each([
    ["abc", "key: expected an even number of hex digits, got 3"],
    ["0x00", 'key: expected hex digits (0-9, a-f), got "x" at position 1'],
    ["zz", 'key: expected hex digits (0-9, a-f), got "z" at position 0'],
    ["00 11", 'key: expected hex digits (0-9, a-f), got " " at position 2'],
    ["00\n", 'key: expected hex digits (0-9, a-f), got "\\n" at position 2'],
    ["0😀", 'key: expected hex digits (0-9, a-f), got "😀" at position 1'],
    ["٠٠", 'key: expected hex digits (0-9, a-f), got "٠" at position 0'],
    [undefined, "key: expected a Uint8Array or a string of hex, got undefined"],
    [null, "key: expected a Uint8Array or a string of hex, got null"],
    [7, "key: expected a Uint8Array or a string of hex, got number"],
    [[1, 2], "key: expected a Uint8Array or a string of hex, got an array"],
    [new ArrayBuffer(2), "key: expected a Uint8Array or a string of hex, got ArrayBuffer"],
    [new Uint16Array(2), "key: expected a Uint8Array or a string of hex, got Uint16Array"],
    [
      new DataView(new ArrayBuffer(2)),
      "key: expected a Uint8Array or a string of hex, got DataView",
    ],
    [{ length: 2 }, "key: expected a Uint8Array or a string of hex, got Object"],
  ])("refuses %j", (value, message) => {
    expect(complaint(() => validate.bytes("key", value))).toBe(message);
  });
});

describe("hash", () => {
  test("takes 32 bytes", () => {
    expect(validate.hash("seedHash", "11".repeat(32))).toHaveLength(32);
    expect(validate.hash("seedHash", new Uint8Array(32))).toHaveLength(32);
  });

  test.each([0, 1, 31, 33, 64])("refuses %d bytes", (length) => {
    const message = `seedHash: expected 32 bytes (64 hex digits), got ${length} bytes`;
    expect(complaint(() => validate.hash("seedHash", "11".repeat(length)))).toBe(message);
    expect(complaint(() => validate.hash("seedHash", new Uint8Array(length)))).toBe(message);
  });
});

describe("byteArrays", () => {
  test("takes lists, and names the entry that is wrong", () => {
    expect(validate.byteArrays("inputs", [])).toEqual([]);
    expect(validate.byteArrays("inputs", ["00", Uint8Array.of(1)])).toHaveLength(2);
    expect(complaint(() => validate.byteArrays("inputs", ["00", "0"]))).toBe(
      "inputs[1]: expected an even number of hex digits, got 1",
    );
    expect(complaint(() => validate.byteArrays("inputs", Array(2)))).toBe(
      "inputs[0]: expected a Uint8Array or a string of hex, got undefined",
    );
    expect(complaint(() => validate.byteArrays("inputs", new Set()))).toBe(
      "inputs: expected an array, got Set",
    );
  });

  test("are refused by their number before any is read, and by their sum before any is copied", () => {
    const large = new Uint8Array(MIB);
    const seen: [number, number][] = [];
    const admit = (inputs: number, bytes: number): void => {
      seen.push([inputs, bytes]);
      if (bytes > MIB) throw new RandomXError("queue-full", "enough");
    };
    const inputs = Array<unknown>(1500).fill(large);
    const before = process.memoryUsage().arrayBuffers;
    expect(() => validate.byteArrays("inputs", inputs, admit)).toThrow("enough");
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(8 * MIB);
    expect(seen).toEqual([
      [1500, 0],
      [1500, 1500 * MIB],
    ]);
    const unread = new Proxy([], {
      get: (_, name) => {
        if (name === "length") return 1e9;
        throw new Error("an input was read");
      },
    });
    const refuse = (): void => {
      throw new RandomXError("queue-full", "too many");
    };
    expect(() => validate.byteArrays("inputs", unread, refuse)).toThrow("too many");
  });

  test.each(["00", new Uint8Array(2), new Set(), null, undefined])("refuses %j", (value) => {
    expect(complaint(() => validate.byteArrays("inputs", value))).toMatch(
      /^inputs: expected an array/,
    );
  });
});

describe("version", () => {
  test("takes 1 and 2", () => {
    expect([1, 2].map((value) => validate.version("version", value))).toEqual([1, 2]);
  });

  test.each([0, 3, 1.5, -1, 257, 2 ** 32 + 1, NaN, Infinity, "1", "v1", 1n, true, null, {}])(
    "refuses %s",
    (value) => {
      expect(complaint(() => validate.version("version", value))).toMatch(
        /^version: expected 1 or 2/,
      );
    },
  );
});

describe("difficulty", () => {
  const most = (1n << 256n) - 1n;

  test.each([
    [1, "1"],
    [1n, "1"],
    ["1", "1"],
    ["0001", "1"],
    [716071628829, "716071628829"],
    [Number.MAX_SAFE_INTEGER, "9007199254740991"],
    [2n ** 64n, "18446744073709551616"],
    [most, most.toString()],
    [most.toString(), most.toString()],
  ])("takes %s", (value, expected) => {
    expect(validate.difficulty("difficulty", value)).toBe(expected);
  });

  test.each([
    [0, "expected at least 1, got 0"],
    [-0, "expected at least 1, got 0"],
    [0n, "expected at least 1, got 0"],
    ["0", "expected at least 1, got 0"],
    [-1, "expected at least 1, got -1"],
    [-1n, "expected at least 1, got -1"],
    ["-1", "expected decimal digits only"],
    [1.5, "expected a whole number, got 1.5"],
    ["1.5", "expected decimal digits only"],
    [NaN, "expected a whole number, got NaN"],
    [Infinity, "expected a whole number, got Infinity"],
    [-Infinity, "expected a whole number, got -Infinity"],
    [2 ** 53, "expected a bigint or a string for a number over 2^53 - 1, got 9007199254740992"],
    [most + 1n, "expected less than 2^256"],
    [(most + 1n).toString(), "expected less than 2^256"],
    ["9".repeat(10_000_000), "expected less than 2^256"],
    ["", "expected decimal digits only"],
    [" 1", "expected decimal digits only"],
    ["1\n", "expected decimal digits only"],
    ["0x10", "expected decimal digits only"],
    ["1e3", "expected decimal digits only"],
    ["+1", "expected decimal digits only"],
    ["١", "expected decimal digits only"],
    [undefined, "expected a bigint, a number or a string of decimal digits, got undefined"],
    [null, "expected a bigint, a number or a string of decimal digits, got null"],
    [true, "expected a bigint, a number or a string of decimal digits, got boolean"],
    [[1], "expected a bigint, a number or a string of decimal digits, got an array"],
    [{}, "expected a bigint, a number or a string of decimal digits, got Object"],
  ])("refuses %#", (value, message) => {
    expect(complaint(() => validate.difficulty("difficulty", value))).toBe(
      `difficulty: ${message}`,
    );
  });
});

describe("height", () => {
  test("takes whole numbers", () => {
    for (const value of [0, 3727300, Number.MAX_SAFE_INTEGER]) {
      expect(validate.height("height", value)).toBe(value);
    }
  });

  test.each([-1, 0.5, NaN, Infinity, 2 ** 53, "1", 1n, undefined, null])("refuses %s", (value) => {
    expect(complaint(() => validate.height("height", value))).toMatch(
      /^height: expected a whole number from 0 to 2\^53 - 1, got /,
    );
  });
});

describe("options", () => {
  test("take a signal and a function, or neither", () => {
    const { signal } = new AbortController();
    const progress = (): void => undefined;
    expect(validate.signal("signal", signal)).toBe(signal);
    expect(validate.signal("signal", undefined)).toBeUndefined();
    expect(validate.progress("onProgress", progress)).toBe(progress);
    expect(validate.progress("onProgress", undefined)).toBeUndefined();
    expect(validate.fields("options", {}, { version: validate.version })).toEqual({ version: 1 });
  });

  test.each([null, {}, "abort", 0])("refuse %j as a signal", (value) => {
    expect(complaint(() => validate.signal("signal", value))).toMatch(
      /^signal: expected an AbortSignal/,
    );
  });

  test.each([null, {}, "f", 0])("refuse %j as a function", (value) => {
    expect(complaint(() => validate.progress("onProgress", value))).toMatch(
      /^onProgress: expected a function/,
    );
  });

  test.each([null, undefined, "{}", 3])("refuse %j as an object", (value) => {
    expect(complaint(() => validate.fields("block", value, {}))).toMatch(
      /^block: expected an object/,
    );
  });
});

describe("a stored state", () => {
  test("has at most 16 MiB", () => {
    const state = new Uint8Array(16 * MIB + 1);
    expect(validate.state("store", state.subarray(1))).toHaveLength(16 * MIB);
    expect(complaint(() => validate.state("store", state))).toBe(
      "store: expected at most 16777216 bytes, got 16777217 bytes",
    );
  });
});
