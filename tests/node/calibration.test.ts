/** The choice between engines by the times of batches, with times that a test makes up. */
import { expect, test } from "vitest";
import { Calibration } from "../../wasm/js/calibration.js";
import type { Engine, Features, Version } from "../../wasm/js/types.js";

const ENGINES = ["jit", "interpreter"] as const;

/** The thread of tests with only one. */
const thread = {};

/** Another number for each test: what is measured holds for all instances with one setting. */
let lanes = 8;

function newCalibration(features: Partial<Features> = {}): Calibration {
  lanes += 1;
  const all = { fusedMultiplyAdd: true, wideArithmetic: false, sharedMemory: true, ...features };
  return new Calibration(ENGINES, all, lanes);
}

/** The milliseconds of a hash in a batch. */
type Clock = (engine: Engine, inputs: number, version: Version) => number;

/** Hashes batches of one kind, and returns what all of them took and the engine of the last. */
function hash(
  calibration: Calibration,
  clock: Clock,
  batches: number,
  inputs: number,
  version: Version = 1,
): { sum: number; engine: Engine | undefined } {
  let sum = 0;
  let engine: Engine | undefined;
  for (let batch = 0; batch < batches; batch += 1) {
    const way = calibration.next(version, inputs, thread);
    ({ engine } = way);
    const milliseconds = clock(engine, inputs, version);
    calibration.add(way, version, inputs, milliseconds);
    sum += milliseconds * inputs;
  }
  return { sum, engine };
}

/** The interpreter is faster for a single hash, and for RandomX 2. */
const mixed: Clock = (engine, inputs, version) => {
  const isJit = engine === "jit";
  if (version === 2) return isJit ? 60 : 45;
  return inputs === 1 ? (isJit ? 50 : 40) : isJit ? 30 : 36;
};

test.each([
  [1, 1, "interpreter"],
  [2, 1, "jit"],
  [7, 1, "jit"],
  [8, 1, "jit"],
  [1, 2, "interpreter"],
  [8, 2, "interpreter"],
] as const)(
  "batches of %i by RandomX %i use the %s, which is faster",
  (inputs, version, faster) => {
    const calibration = newCalibration();
    expect(hash(calibration, mixed, 12, inputs, version).engine).toBe(faster);
    expect(calibration.engine).toBe(faster);
  },
);

test("each kind of batch has its own engine, in any order", () => {
  const calibration = newCalibration();
  for (let round = 0; round < 12; round += 1) {
    for (const inputs of [1, 4, 8]) hash(calibration, mixed, 1, inputs);
  }
  const next = [1, 4, 8].map((inputs) => hash(calibration, mixed, 1, inputs).engine);
  expect(next).toEqual(["interpreter", "jit", "jit"]);
});

test.each([1, 2, 4, 8])(
  "1,000 hashes in batches of %i take at most 5 %% longer than the best",
  (inputs) => {
    for (const [jit, interpreter] of [
      ...[
        [30, 39],
        [39, 30],
        [30, 33],
        [33, 30],
      ],
      ...[
        [30, 31],
        [30, 60],
        [60, 30],
      ],
    ] as const) {
      const clock: Clock = (engine) => (engine === "jit" ? jit : interpreter);
      const batches = Math.ceil(1000 / inputs);
      const { sum } = hash(newCalibration(), clock, batches, inputs);
      expect(sum / (Math.min(jit, interpreter) * batches * inputs)).toBeLessThan(1.05);
    }
  },
);

test("a size between two with the same winner needs no trials, and one beyond them does", () => {
  const calibration = newCalibration();
  const slow: Clock = (engine) => (engine === "jit" ? 60 : 40);
  for (const inputs of [2, 7]) hash(calibration, slow, 6, inputs);
  const used = (inputs: number): Set<Engine> =>
    new Set(Array.from({ length: 4 }, () => calibration.next(1, inputs, thread).engine));
  expect(used(5)).toEqual(new Set(["interpreter"]));
  expect(used(1)).toEqual(new Set(ENGINES));
  expect(used(8)).toEqual(new Set(ENGINES));
});

test("once it is known, even a single batch uses the faster engine", () => {
  const calibration = newCalibration();
  hash(calibration, mixed, 20, 1);
  // Also after the key has changed, which no choice depends on.
  expect(hash(calibration, mixed, 1, 1).engine).toBe("interpreter");
});

test("other work that doubles the times of some batches decides nothing", () => {
  for (let first = 0; first < 5; first += 1) {
    for (const faster of ENGINES) {
      let batch = first;
      const clock: Clock = (engine) => {
        batch += 1;
        return (engine === faster ? 30 : 36) * (batch % 5 < 2 ? 2 : 1);
      };
      expect(hash(newCalibration(), clock, 20, 8).engine, `${faster}, ${first}`).toBe(faster);
    }
  }
});

test.each([2, 3, 4])("%i threads of different speeds favour no engine", (count) => {
  for (const faster of ENGINES) {
    const calibration = newCalibration();
    const threads = Array.from({ length: count }, (_, index) => ({ slowness: 1 + index / 2 }));
    // All threads begin a batch, and then all of them end it.
    for (let round = 0; round < 8; round += 1) {
      const ways = threads.map((each) => calibration.next(1, 8, each));
      for (const [index, way] of ways.entries()) {
        const milliseconds = (threads[index]?.slowness ?? 1) * (way.engine === faster ? 30 : 36);
        calibration.add(way, 1, 8, milliseconds);
      }
    }
    expect(calibration.next(1, 8, {}).engine, faster).toBe(faster);
    expect(calibration.engine, faster).toBe(faster);
  }
});

test("an engine that was slow for a while is tried again", () => {
  const calibration = newCalibration();
  hash(calibration, (engine) => (engine === "jit" ? 90 : 40), 10, 8);
  expect(calibration.engine).toBe("interpreter");
  hash(calibration, (engine) => (engine === "jit" ? 30 : 40), 200, 8);
  expect(calibration.engine).toBe("jit");
});

test("batches that never end hold nothing up", () => {
  const calibration = newCalibration();
  const begun = Array.from({ length: 9 }, () => calibration.next(1, 8, thread).engine);
  expect(new Set(begun)).toEqual(new Set(ENGINES));
  calibration.add({ engine: "jit" }, 1, 8, Number.NaN);
  expect(hash(calibration, mixed, 12, 8, 2).engine).toBe("interpreter");
  expect(hash(calibration, mixed, 12, 8).engine).toBe("jit");
});

test.each([Number.NaN, Infinity])("a batch without a hash (%d ms) is no trial", (milliseconds) => {
  const calibration = newCalibration();
  hash(calibration, () => milliseconds, 20, 8);
  const next = Array.from({ length: 4 }, () => calibration.next(1, 8, thread).engine);
  expect(new Set(next)).toEqual(new Set(ENGINES));
});

test("the guess is the compiler where products are fused, and other instances know the winner", () => {
  const features = { fusedMultiplyAdd: true, wideArithmetic: true, sharedMemory: true };
  expect(new Calibration(ENGINES, features, 99).engine).toBe("jit");
  expect(new Calibration(ENGINES, features, 99).next(1, 1, thread).engine).toBe("jit");
  expect(newCalibration({ fusedMultiplyAdd: false }).engine).toBe("interpreter");
  hash(new Calibration(ENGINES, features, 99), mixed, 12, 1);
  const other = new Calibration(ENGINES, features, 99);
  expect(other.engine).toBe("interpreter");
  expect(other.next(1, 1, thread).engine).toBe("interpreter");
  // The first batch of another kind follows it.
  expect(other.next(2, 3, thread).engine).toBe("interpreter");
});

test("a single engine is never measured", () => {
  const features = { fusedMultiplyAdd: false, wideArithmetic: false, sharedMemory: false };
  const native = new Calibration(["native"], features, 8);
  native.add({ engine: "native" }, 1, 8, Number.NaN);
  expect(native.next(1, 8, thread)).toEqual({ engine: "native" });
  expect(native.engine).toBe("native");
});

/** Of all features only this one differs, so that each test has its own setting. */
let settings = 0;

function withLanes(engines: readonly [Engine, ...Engine[]]): Calibration {
  settings += 1;
  const features = { fusedMultiplyAdd: true, wideArithmetic: false, sharedMemory: true, settings };
  return new Calibration(engines, features, undefined);
}

/** Hashes batches of one kind in some milliseconds for each number of lanes. Returns the lanes of each batch. */
function lanesOf(
  calibration: Calibration,
  clock: (engine: Engine, lanes: number) => number,
  batches: number,
  inputs: number,
): number[] {
  return Array.from({ length: batches }, () => {
    const way = calibration.next(1, inputs, thread);
    const lanes = way.lanes ?? inputs;
    calibration.add(way, 1, inputs, clock(way.engine, lanes));
    return lanes;
  });
}

test.each([8, 4, 2])(
  "of batches of 8, as a whole, in halves or quarters, %i lanes win",
  (fastest) => {
    const calibration = withLanes(ENGINES);
    const clock = (engine: Engine, lanes: number): number =>
      (engine === "jit" ? 60 : 40) + Math.abs(Math.log2(lanes / fastest));
    const used = lanesOf(calibration, clock, 60, 8);
    expect(new Set(used)).toEqual(new Set([8, 4, 2]));
    expect(calibration.lanes).toBe(fastest);
    expect(used.at(-1)).toBe(fastest);
    // Until an engine has won, all of a batch is hashed together.
    expect(used.slice(0, 4)).toEqual([8, 8, 8, 8]);
  },
);

test("1,000 hashes with measured lanes take at most 5 % longer than the best", () => {
  for (const [eight, four, two] of [
    ...[
      [40, 40, 40],
      [53, 45, 46],
      [40, 45, 52],
      [40, 41, 60],
    ],
  ] as const) {
    const times = new Map([
      [8, eight],
      [4, four],
      [2, two],
    ]);
    let sum = 0;
    const clock = (engine: Engine, lanes: number): number => {
      const milliseconds = (times.get(lanes) ?? Number.NaN) * (engine === "jit" ? 1 : 1.3);
      sum += milliseconds;
      return milliseconds;
    };
    lanesOf(withLanes(ENGINES), clock, 125, 8);
    expect(sum / 125 / Math.min(eight, four, two)).toBeLessThan(1.05);
  }
});

test("batches too small to share out, native code and chosen lanes are not measured", () => {
  const constant = (): number => 40;
  for (const inputs of [1, 2, 3]) {
    const used = new Set(lanesOf(withLanes(ENGINES), constant, 20, inputs));
    expect([...used]).toEqual([inputs]);
  }
  expect(withLanes(["native"]).next(1, 8, thread)).toEqual({ engine: "native" });
  const chosen = newCalibration();
  hash(chosen, mixed, 40, 8);
  expect(chosen.next(1, 8, thread)).toEqual({ engine: "jit" });
  expect(chosen.lanes).toBeUndefined();
});

test("a single engine measures lanes too", () => {
  const used = lanesOf(withLanes(["interpreter"]), (_, lanes) => 40 + lanes, 30, 5);
  expect(new Set(used)).toEqual(new Set([5, 3, 2]));
  expect(used.at(-1)).toBe(2);
});
