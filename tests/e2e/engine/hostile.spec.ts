/** What hostile sources cost in memory. `../main-thread.spec.ts` measures what they cost in time. */
import { setTimeout as pause } from "node:timers/promises";
import { ATTACKS } from "../../node/chain/attacks.js";
import { attacked, type Suffer } from "../attacked.js";
import type { BrowserName } from "../browsers/browser.js";
import { heldByKind, heldMemory } from "../browsers/memory.js";
import { expect, test } from "../browsers/test.js";
import { startUnrecorded } from "../browsers/start-unrecorded.js";
import type { UnrecordedBrowser, UnrecordedTab } from "../browsers/unrecorded.js";

/** The most that an attack may add, in MiB, in all processes of the browser. */
const MOST = 32;

/**
 * The most that bombs may add in WebKit, in MiB: eleven answers of 64 MiB. WebKit inflates them as fast as they arrive,
 * until an abort takes effect. tests/README.md says what was tried.
 */
const BOMBS_IN_WEBKIT = 11 * 64;

/** The time within which all but `MOST` must be free after an attack, in milliseconds. */
const FREED = 10_000;

/** The pause between measurements, in milliseconds. */
const STEP = 50;

/** The time after which a page that has just loaded holds no garbage of that, in milliseconds. */
const SETTLED = 1500;

/**
 * The most measurements of an attack, each in a new page, which holds nothing of an earlier one. The
 * garbage collector may come late, once. What the package keeps, it keeps each time.
 */
const ATTEMPTS = 3;

/** The growth of a browser in MiB, and of each of its kinds of processes at that moment. */
interface Growth {
  total: number;
  kinds: Record<string, number>;
  /** What was left in the end. */
  left: number;
}

/**
 * Returns the most that was held while a promise was pending, beyond what was held before, and what was left after that
 * when it was below `MOST` or `FREED` had passed.
 */
async function growth(work: () => Promise<unknown>): Promise<Growth> {
  const before = heldByKind();
  const added = (): Omit<Growth, "left"> => {
    const kinds = [...heldByKind()].map(
      ([kind, held]) => [kind, held - (before.get(kind) ?? 0)] as const,
    );
    const total = kinds.reduce((sum, [, more]) => sum + more, 0);
    return { total, kinds: Object.fromEntries(kinds) };
  };
  let [most, isDone] = [{ total: 0, kinds: {} as Growth["kinds"] }, false];
  const done = work().finally(() => {
    isDone = true;
  });
  while (!isDone) {
    await Promise.race([done, pause(STEP)]);
    const now = added();
    if (now.total > most.total) most = now;
  }
  await done;
  const end = performance.now() + FREED;
  let left = added().total;
  while (left >= MOST && performance.now() < end) {
    await pause(STEP);
    left = added().total;
  }
  return { ...most, left };
}

/** A gigabit a second, in bytes. */
const GIGABIT = 125_000_000;

/**
 * The rate limit of all sources, in bytes a second. WebKit buffers an answer until an abort takes effect, so the
 * memory depends on the rate. tests/README.md has figures without a limit.
 */
const RATES: Partial<Record<BrowserName, number>> = { webkit: GIGABIT };

test.describe("sources that attack", { tag: "@full" }, () => {
  let browser: UnrecordedBrowser | undefined;

  test.beforeAll(async ({ engine }) => {
    browser = await startUnrecorded(engine);
  });

  test.afterAll(async () => {
    await browser?.close();
  });

  for (const attack of ATTACKS) {
    test(`with ${attack} take little memory`, async ({ engine }) => {
      const limit = engine === "webkit" && attack === "bomb" ? BOMBS_IN_WEBKIT : MOST;
      test.skip(heldMemory() === undefined, "this system does not report memory by process");
      if (!browser) throw new Error("there is no browser");
      const grown: Growth[] = [];
      while (
        grown.length < ATTEMPTS &&
        !grown.some(({ total, left }) => total < limit && left < MOST)
      ) {
        const measure = async (_: UnrecordedTab, suffer: Suffer): Promise<void> => {
          await pause(SETTLED);
          grown.push(await growth(() => suffer(attack)));
        };
        await attacked(browser, measure, RATES[engine]);
      }
      const description = JSON.stringify(grown, (_, value: unknown) =>
        typeof value === "number" ? Number(value.toFixed(1)) : value,
      );
      test.info().annotations.push({ type: "MiB added", description });
      expect(Math.min(...grown.map(({ total }) => total)), description).toBeLessThan(limit);
      expect(Math.min(...grown.map(({ left }) => left)), description).toBeLessThan(MOST);
    });
  }
});
