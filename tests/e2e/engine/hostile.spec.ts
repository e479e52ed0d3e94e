/** What hostile sources cost in memory. `main-thread.spec.ts` measures what they cost in time. */
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "@playwright/test";
import { ATTACKS } from "../node/chain/attacks.js";
import { attacked } from "./attacked.js";
import { heldMemory } from "./browsers/memory.js";

/** The most that an attack may add, in MiB, in all processes of the browser. */
const MOST = 32;

/** The pause between measurements, in milliseconds. */
const STEP = 50;

/** The time after which a page that has just loaded holds no garbage of that, in milliseconds. */
const SETTLED = 1500;

/**
 * The most measurements of an attack, each in a new page, which holds nothing of an earlier one. The
 * garbage collector may come late, once. What the package keeps, it keeps each time.
 */
const ATTEMPTS = 3;

/** Returns the most MiB that were held while a promise was pending, beyond what was held before. */
async function growth(work: () => Promise<unknown>): Promise<number> {
  const before = heldMemory() ?? 0;
  let [most, isDone] = [before, false];
  const done = work().finally(() => {
    isDone = true;
  });
  while (!isDone) {
    await Promise.race([done, pause(STEP)]);
    most = Math.max(most, heldMemory() ?? 0);
  }
  await done;
  return most - before;
}

test.describe("sources that attack", { tag: "@full" }, () => {
  for (const attack of ATTACKS) {
    test(`with ${attack} take less than ${MOST} MiB`, async ({ browser }) => {
      test.skip(heldMemory() === undefined, "this system does not report memory by process");
      const grown: number[] = [];
      while (grown.length < ATTEMPTS && !grown.some((mebibytes) => mebibytes < MOST)) {
        await attacked(browser, async (_, suffer) => {
          await pause(SETTLED);
          grown.push(await growth(() => suffer(attack)));
        });
      }
      const description = grown.map((mebibytes) => mebibytes.toFixed(1)).join(", ");
      test.info().annotations.push({ type: "MiB added", description });
      expect(Math.min(...grown), description).toBeLessThan(MOST);
    });
  }
});
