/** What hostile sources cost in memory. `main-thread.spec.ts` measures what they cost in time. */
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "@playwright/test";
import { ANSWERED, ATTACKS, startAttacks } from "../node/chain/attacks.js";
import { heldMemory } from "./browsers/memory.js";
import { openHarness } from "./support.js";

/** The most that an attack may add, in MiB. */
const MOST = 32;

/** The pause between measurements, in milliseconds. */
const STEP = 50;

test.describe("sources that attack", { tag: "@full" }, () => {
  for (const attack of ATTACKS) {
    test(`with ${attack} take less than ${MOST} MiB`, async ({ page }) => {
      test.skip(heldMemory() === undefined, "this system does not report memory by process");
      const server = await startAttacks();
      try {
        await openHarness(page);
        const suffer = (name: string): Promise<unknown> =>
          page.evaluate((address) => window.harness.call("attacked", [address]), server.url + name);
        // Everything is loaded once before anything is measured.
        await suffer("/spaces");
        const before = heldMemory() ?? 0;
        let [most, answered] = [before, undefined as unknown];
        const suffered = suffer(`/${attack}`).then((count) => {
          answered = count;
        });
        while (answered === undefined) {
          await Promise.race([suffered, pause(STEP)]);
          most = Math.max(most, heldMemory() ?? 0);
        }
        expect(answered).toBe(ANSWERED[attack] ?? 0);
        test
          .info()
          .annotations.push({ type: "MiB added", description: (most - before).toFixed(1) });
        expect(most - before).toBeLessThan(MOST);
      } finally {
        server.stop();
      }
    });
  }
});
