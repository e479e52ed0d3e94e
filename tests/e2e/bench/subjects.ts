/** What is measured of the package, and what it is called. */
import type { Configuration, CreateOptions } from "../../../wasm/js/index.js";
import type { Load } from "../harness/measure.js";
import type { Place } from "./rows.js";

/** A set-up and the batches that are hashed in it. */
export interface Subject {
  options: CreateOptions;
  loads: Load[];
}

const batch = (count: number): Load[] => [1, 2].map((version) => ({ version, count }) as Load);

/** The main one first. Others hash fewer: they are compared, not reported by themselves. */
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

/** Where the times of a subject belong, but for what they are of. */
export function place(browser: string, configuration: Configuration): Omit<Place, "what"> {
  const { threads, lanes, engine } = configuration;
  return { browser, engine, tier: tier(configuration), threads, lanes };
}

/** The name of what a load measures. */
export function what({ version, count }: Load): string {
  return `hash, v${version}, ${count} in a batch`;
}

/** A tier by what it makes use of beside SIMD128. */
export function tier({ features }: Configuration): string {
  const parts = [
    ...(features.fusedMultiplyAdd ? ["fused"] : ["unfused"]),
    ...(features.wideArithmetic ? ["wide"] : []),
    ...(features.sharedMemory ? ["shared"] : []),
  ];
  return parts.join("+");
}
