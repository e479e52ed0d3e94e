/** The set-ups of the package that are measured, and their names. */
import type { Configuration, CreateOptions } from "../../../wasm/js/index.js";
import type { Load } from "../harness/measure.js";
import type { Place } from "./rows.js";

/** A set-up and its batches. */
export interface Subject {
  options: CreateOptions;
  loads: Load[];
}

const batch = (count: number): Load[] => [1, 2].map((version) => ({ version, count }) as Load);

/** The main set-up, then others for comparison, which hash fewer batches. */
export const subjects: Subject[] = [
  { options: { threads: 1 }, loads: [...batch(1), ...batch(8), ...batch(64)] },
  { options: { threads: 2 }, loads: [...batch(64)] },
  { options: { threads: 1, engine: "jit" }, loads: batch(24) },
  {
    options: { threads: 1, engine: "jit", features: { fusedMultiplyAdd: false } },
    loads: batch(24),
  },
  { options: { threads: 1, engine: "interpreter" }, loads: [...batch(1), ...batch(24)] },
  ...[1, 2, 4].map((lanes) => ({ options: { threads: 1, lanes }, loads: batch(24) })),
];

/** Returns the place of a subject's times, without what was measured. */
export function place(browser: string, configuration: Configuration): Omit<Place, "what"> {
  const { threads, lanes, engine } = configuration;
  return { browser, engine, tier: tier(configuration), threads, lanes };
}

/** Names what a load measures. */
export function what({ version, count }: Load): string {
  return `hash, v${version}, ${count} in a batch`;
}

/** Names a tier by the features that it uses besides SIMD128. */
export function tier({ features }: Configuration): string {
  const parts = [
    ...(features.fusedMultiplyAdd ? ["fused"] : ["unfused"]),
    ...(features.wideArithmetic ? ["wide"] : []),
    ...(features.sharedMemory ? ["shared"] : []),
  ];
  return parts.join("+");
}
