/** The choice between engines by measured times. */
import { expect, test } from "vitest";
import { fastest } from "../../wasm/js/fastest.js";
import type { Engine } from "../../wasm/js/types.js";

const engines: readonly Engine[] = ["jit", "interpreter"];

/** Returns the choice when the engines take these times, round by round. */
function choice(jit: readonly number[], interpreter: readonly number[]): Engine {
  const calibrate = (compiled: boolean, _features: number, round: number): number =>
    (compiled ? jit : interpreter).at(round % 3) ?? Number.NaN;
  return fastest({ calibrate }, engines, 0);
}

test("the first engine stays unless another is clearly faster", () => {
  expect(choice([10, 10, 10], [9.1, 9.1, 9.1])).toBe("jit");
  expect(choice([10, 10, 10], [8.9, 8.9, 8.9])).toBe("interpreter");
});

test("an interruption in one round decides nothing", () => {
  expect(choice([30, 12, 10], [11, 12, 11])).toBe("jit");
  expect(choice([20, 21, 20], [60, 12, 55])).toBe("interpreter");
});
