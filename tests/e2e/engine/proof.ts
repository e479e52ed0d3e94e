/** Records of hashes that were right: specs add them, and the reporter prints and checks them. */
import { test } from "@playwright/test";
import type { Configuration } from "../../../wasm/js/index.js";
import type { BrowserName } from "../browsers/browser.js";
import type { Harness } from "../browsers/test.js";

/** Hashes that were right, and the set-up that computed them. */
export interface Ran {
  browser: BrowserName;
  version: string;
  /** Whether the browser can multiply and add at once, by the harness's own test. */
  canFuse: boolean;
  engine: string;
  tier: string;
  lanes: number;
  threads: number;
  hashes: number;
}

/** The type of the annotations that hold the records. */
export const RAN = "ran";

/** Records that hashes were equal to known ones. */
export async function record(
  harness: Harness,
  configuration: Configuration,
  hashes: number,
): Promise<void> {
  const { browser } = harness;
  const { engine, lanes, threads } = configuration;
  const { fusedMultiplyAdd: canFuse } = await harness.call("detect");
  const ran: Ran = {
    browser: browser.name,
    version: browser.version,
    canFuse,
    engine,
    tier: tier(configuration),
    lanes,
    threads,
    hashes,
  };
  test.info().annotations.push({ type: RAN, description: JSON.stringify(ran) });
}

/** Names a tier by the features that it uses besides SIMD128. */
export function tier({ features }: Configuration): string {
  const parts = [
    features.fusedMultiplyAdd ? "fused" : "unfused",
    ...(features.wideArithmetic ? ["wide"] : []),
    features.sharedMemory ? "shared" : "alone",
  ];
  return parts.join("+");
}
