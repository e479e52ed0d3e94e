/** The features that the package needs or uses, detected with tiny modules. */
import { canShareMemory } from "./environment.js";
import { RandomXError } from "./errors.js";
import type { Features } from "./types.js";

/** An empty module. */
const EMPTY = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0);

/** `(func (result v128) i32.const 0  i8x16.splat  i8x16.popcnt)` */
const SIMD = Uint8Array.of(
  ...EMPTY,
  ...[0x01, 0x05, 0x01, 0x60, 0x00, 0x01, 0x7b],
  ...[0x03, 0x02, 0x01, 0x00],
  ...[0x0a, 0x0a, 0x01, 0x08, 0x00, 0x41, 0x00, 0xfd, 0x0f, 0xfd, 0x62, 0x0b],
);

/** Throws `unsupported` or `wasm-blocked` if RandomX cannot run here, or a `RangeError` without memory. */
export function checkSupport(): void {
  if (typeof WebAssembly === "undefined") {
    throw new RandomXError("unsupported", "RandomX needs WebAssembly, which this browser lacks");
  }
  if (!WebAssembly.validate(SIMD)) {
    throw new RandomXError(
      "unsupported",
      "RandomX needs WebAssembly's SIMD instructions, which this browser or processor lacks; it runs in Chrome or Edge 98, Firefox 114, Safari 16.4 and later",
    );
  }
  try {
    // Policies allow validating. They forbid compiling, or in WebKit instantiating.
    new WebAssembly.Instance(new WebAssembly.Module(EMPTY));
  } catch (error) {
    if (error instanceof RangeError) throw error;
    throw new RandomXError(
      "wasm-blocked",
      "the Content-Security-Policy of this site forbids WebAssembly: its script-src needs 'wasm-unsafe-eval'",
      { cause: error },
    );
  }
}

/** The bits of features, as `features.rs` of the wasm crate defines them. */
const BITS: Record<keyof Features, number> = {
  fusedMultiplyAdd: 1,
  wideArithmetic: 2,
  sharedMemory: 4,
};

/** Returns the detected features without those that the caller forbids, also as bits. */
export function chooseFeatures(
  detected: number,
  wanted: Partial<Features>,
): { features: Features; bits: number } {
  const found = canShareMemory() ? detected | BITS.sharedMemory : detected;
  const choose = (name: keyof Features): boolean => {
    const isFound = (found & BITS[name]) !== 0;
    if (wanted[name] && !isFound) {
      throw new RandomXError(
        "unsupported",
        `features.${name}: expected a feature of this environment, which lacks it`,
      );
    }
    return wanted[name] ?? isFound;
  };
  const features = {
    fusedMultiplyAdd: choose("fusedMultiplyAdd"),
    wideArithmetic: choose("wideArithmetic"),
    sharedMemory: choose("sharedMemory"),
  };
  const names = Object.keys(BITS) as (keyof Features)[];
  return {
    features,
    bits: names.reduce((bits, name) => (features[name] ? bits | BITS[name] : bits), 0),
  };
}
