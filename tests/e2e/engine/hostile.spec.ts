/** The memory that hostile sources cost. `../main-thread.spec.ts` measures the time. */
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

/** The pause between measurements, in milliseconds. */
const STEP = 50;

/** The time after which a page that has just loaded holds no garbage of that, in milliseconds. */
const SETTLED = 1500;

/**
 * The most measurements of an attack, each in a new page, which holds nothing of an earlier one. The
 * garbage collector may come late, once. The package holds on to the same memory each time.
 */
const ATTEMPTS = 3;

/** The growth of a browser in MiB, and of each of its kinds of processes at that moment. */
interface Growth {
  total: number;
  kinds: Record<string, number>;
  /** The growth after `FREED`, for the attacks in `MEASURED_LATER`. */
  left?: Growth;
}

/** Returns the most that was held while a promise was pending, beyond what was held before. */
async function growth(work: () => Promise<unknown>, isMeasuredLater: boolean): Promise<Growth> {
  const before = heldByKind();
  let [most, isDone] = [since(before), false];
  const done = work().finally(() => {
    isDone = true;
  });
  while (!isDone) {
    await Promise.race([done, pause(STEP)]);
    const now = since(before);
    if (now.total > most.total) most = now;
  }
  await done;
  if (!isMeasuredLater) return most;
  await pause(FREED);
  return { ...most, left: since(before) };
}

/** Returns what is held beyond what was held before. */
function since(before: Map<string, number>): Growth {
  const kinds = [...heldByKind()].map(
    ([kind, held]) => [kind, held - (before.get(kind) ?? 0)] as const,
  );
  const total = kinds.reduce((sum, [, more]) => sum + more, 0);
  return { total, kinds: Object.fromEntries(kinds) };
}

/** Returns the growth that the limit applies to. */
function limited({ total, left }: Growth): number {
  return left ? left.total : total;
}

/**
 * The attacks that are measured `FREED` after their end instead of at their peak. The browser's network process inflates
 * their answers faster than it receives an abort, which no page can limit. tests/README.md has the peaks.
 */
const MEASURED_LATER: Partial<Record<BrowserName, string[]>> = { webkit: ["bomb"] };

/** The time in which the network process frees an aborted answer, in milliseconds. */
const FREED = 10_000;

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
    test(`with ${attack} take less than ${MOST} MiB`, async ({ engine }) => {
      test.skip(heldMemory() === undefined, "this system does not report memory by process");
      if (!browser) throw new Error("there is no browser");
      const grown: Growth[] = [];
      const isMeasuredLater = MEASURED_LATER[engine]?.includes(attack) ?? false;
      while (grown.length < ATTEMPTS && !grown.some((each) => limited(each) < MOST)) {
        const measure = async (_: UnrecordedTab, suffer: Suffer): Promise<void> => {
          await pause(SETTLED);
          grown.push(await growth(() => suffer(attack), isMeasuredLater));
        };
        await attacked(browser, measure, RATES[engine]);
      }
      const description = JSON.stringify(grown, (_, value: unknown) =>
        typeof value === "number" ? Number(value.toFixed(1)) : value,
      );
      test.info().annotations.push({ type: "MiB added", description });
      expect(Math.min(...grown.map(limited)), description).toBeLessThan(MOST);
    });
  }
});
