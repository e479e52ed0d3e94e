/** What ran: specs note it, and the reporter prints it and demands that it is all there. */
import { test } from "@playwright/test";
import type { Configuration } from "../../../wasm/js/index.js";
import type { Harness } from "../browsers/test.js";

/** Hashes that were right, and what made them. */
export interface Ran {
  browser: string;
  version: string;
  engine: string;
  tier: string;
  lanes: number;
  threads: number;
  hashes: number;
}

/** The type of the annotations that carry it. */
export const RAN = "ran";

/** Notes that hashes were compared with known ones. */
export function note({ browser }: Harness, configuration: Configuration, hashes: number): void {
  const { engine, lanes, threads } = configuration;
  const ran: Ran = {
    browser: browser.name,
    version: browser.version,
    engine,
    tier: tier(configuration),
    lanes,
    threads,
    hashes,
  };
  test.info().annotations.push({ type: RAN, description: JSON.stringify(ran) });
}

/** A tier by what it makes use of beside SIMD128. */
export function tier({ features }: Configuration): string {
  const parts = [
    features.fusedMultiplyAdd ? "fused" : "unfused",
    ...(features.wideArithmetic ? ["wide"] : []),
    features.sharedMemory ? "shared" : "alone",
  ];
  return parts.join("+");
}
