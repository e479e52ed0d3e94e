/** A page that hostile sources attack. */
import { expect } from "@playwright/test";
import { ANSWERED, HARMLESS, startAttacks } from "../node/chain/attacks.js";
import { HARNESS } from "./addresses.js";
import type { UnrecordedBrowser, UnrecordedTab } from "./browsers/unrecorded.js";

/** Suffers one attack. */
export type Suffer = (attack: string) => Promise<void>;

/**
 * Opens the harness, loads everything once, and measures what attacks cost. `rate` limits the server, in bytes a
 * second.
 */
export async function attacked(
  browser: UnrecordedBrowser,
  measure: (tab: UnrecordedTab, suffer: Suffer) => Promise<void>,
  rate = Infinity,
): Promise<void> {
  const server = await startAttacks(rate);
  const tab = await browser.open(HARNESS, '"harness" in window');
  try {
    const suffer = async (attack: string): Promise<void> => {
      const address = JSON.stringify(`${server.url}/${attack}`);
      const answered = await tab.evaluate(`harness.call("attacked", [${address}])`);
      expect(answered).toBe(ANSWERED[attack] ?? 0);
    };
    await suffer(HARMLESS);
    await measure(tab, suffer);
  } finally {
    await tab.close();
    server.stop();
  }
}
