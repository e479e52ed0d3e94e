/** Detects what this browser's WebAssembly supports in the plainest way: the oracle of the package. */
import type { Features } from "../../../wasm/js/index.js";

/**
 * (func (export "f") (param f64 f64 f64) (result f64) (f64x2.extract_lane 0
 *   (f64x2.relaxed_madd (f64x2.splat (local.get 0)) (f64x2.splat (local.get 1))
 *     (f64x2.splat (local.get 2)))))
 */
const RELAXED_MADD = module(
  [1, 0x60, 3, 0x7c, 0x7c, 0x7c, 1, 0x7c],
  [
    ...[0x20, 0, 0xfd, 0x14, 0x20, 1, 0xfd, 0x14, 0x20, 2, 0xfd, 0x14],
    ...[0xfd, 0x87, 0x02, 0xfd, 0x21, 0],
  ],
);

/** (func (export "f") (param i64 i64) (result i64 i64) (i64.mul_wide_u ...)) */
const WIDE = module([1, 0x60, 2, 0x7e, 0x7e, 2, 0x7e, 0x7e], [0x20, 0, 0x20, 1, 0xfc, 0x16]);

/** Detects the features. */
export function detect(): Features {
  return {
    fusedMultiplyAdd: multipliesAndAddsAtOnce(),
    wideArithmetic: WebAssembly.validate(WIDE),
    sharedMemory: crossOriginIsolated,
  };
}

/** (1 + u)(1 - u) - 1 is -u² if it is rounded once, and 0 if the product is rounded separately. */
function multipliesAndAddsAtOnce(): boolean {
  if (!WebAssembly.validate(RELAXED_MADD)) return false;
  const instance = new WebAssembly.Instance(new WebAssembly.Module(RELAXED_MADD));
  const f = instance.exports.f as (a: number, b: number, c: number) => number;
  const u = 2 ** -30;
  return f(1 + u, 1 - u, -1) === -(u ** 2);
}

/** Encodes a module with one function, "f", without locals. */
function module(type: number[], code: number[]): Uint8Array<ArrayBuffer> {
  const section = (id: number, content: number[]): number[] => [id, content.length, ...content];
  return Uint8Array.of(
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, type),
    ...section(3, [1, 0]),
    ...section(7, [1, 1, 0x66, 0, 0]),
    ...section(10, [1, code.length + 2, 0, ...code, 0x0b]),
  );
}
