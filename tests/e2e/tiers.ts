/** The tiers of the browser tests; `playwright.config.ts` says what each tag means. */
import type { BrowserName } from "./browsers/browser.js";

export type Tier = "quick" | "full";

/** The tier that `E2E_TIER` names, or the full one. */
export function chosenTier(): Tier {
  const tier = process.env.E2E_TIER ?? "full";
  if (tier === "quick" || tier === "full") return tier;
  throw new Error(`E2E_TIER: expected quick or full, got ${tier}`);
}

/** Matches the tags of tests that the tier leaves out in a browser. */
export function leftOut(tier: Tier, browser: BrowserName): RegExp[] {
  if (tier === "full") return [];
  return browser === "chromium" ? [/@full/u] : [/@full/u, /@chromium/u];
}
