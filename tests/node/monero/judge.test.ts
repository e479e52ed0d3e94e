/** How the blocks of a chain are divided into batches, with a scheduler whose hashes the test ends. */
import { expect, test } from "vitest";
import type { Run } from "../../../wasm/js/monero/run.js";
import { Judge } from "../../../wasm/js/monero/judge.js";
import type { ChainArgs } from "../../../wasm/js/protocol.js";
import type { Scheduler } from "../../../wasm/js/scheduler.js";
import { eventually } from "../support.js";

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Longer than a batch waits for the next block. */
const LATE = 250;

/** A scheduler for which every block is valid. */
class FakeScheduler {
  readonly lanes = 8;
  /** The sizes of the batches. */
  readonly batches: number[] = [];
  /** Ends the hashes that run. */
  readonly ends: (() => void)[] = [];

  whenRoom<T>(_: unknown, call: () => T): T {
    return call();
  }

  ask(operation: string, { links }: ChainArgs): Promise<unknown> {
    if (operation === "chainWork") {
      this.batches.push(links.length);
      const works = links.map(() => ({
        seedHash: new Uint8Array(32),
        hashingBlob: new Uint8Array(76),
      }));
      return Promise.resolve({ works, verdicts: [], failure: undefined });
    }
    const verdict = {
      status: "valid",
      difficulty: "1",
      work: "1",
      completeStart: true,
      checks: [],
    };
    return Promise.resolve({ verdicts: links.map(() => verdict), checkpoint: null });
  }

  hash(): Promise<Uint8Array[]> {
    return new Promise((resolve) => {
      this.ends.push(() => {
        resolve([new Uint8Array(32)]);
      });
    });
  }

  attach(): () => void {
    return () => undefined;
  }

  check(): void {
    // Nothing limits the queue.
  }
}

test("blocks that arrive one by one while others are hashed are judged together", async () => {
  const scheduler = new FakeScheduler();
  let sent = 0;
  async function* source() {
    for (; sent < 4; sent += 1) {
      if (sent > 0) await sleep(LATE);
      yield { hashingBlob: new Uint8Array(76) };
    }
    await sleep(LATE);
  }
  const run = { network: "mainnet", sample: 1, start: 0, now: 0 } as Partial<Run> as Run;
  const judge = new Judge(scheduler as Partial<Scheduler> as Scheduler, run, {});
  const verdicts = judge.verdicts(source());
  const first = verdicts.next();
  await eventually(() => {
    expect(sent).toBe(4);
  });
  // The first batch waited for no late block, because no worker had work.
  expect(scheduler.batches).toEqual([1]);
  scheduler.ends.pop()?.();
  expect((await first).value).toMatchObject({ status: "valid" });
  const second = verdicts.next();
  await eventually(() => {
    expect(scheduler.batches).toEqual([1, 3]);
  });
  for (const end of scheduler.ends) end();
  await second;
  await verdicts.return();
});

test("a source that fails between two batches fails after the verdicts", async () => {
  const scheduler = new FakeScheduler();
  let fail = (): void => undefined;
  const broken = new Promise<never>((_, reject) => {
    fail = () => {
      reject(new Error("the connection is lost"));
    };
  });
  async function* source() {
    yield { hashingBlob: new Uint8Array(76) };
    await sleep(LATE);
    yield { hashingBlob: new Uint8Array(76) };
    await broken;
  }
  const run = { network: "mainnet", sample: 1, start: 0, now: 0 } as Partial<Run> as Run;
  const judge = new Judge(scheduler as Partial<Scheduler> as Scheduler, run, {});
  const verdicts = judge.verdicts(source());
  for (const batches of [1, 2]) {
    const verdict = verdicts.next();
    await eventually(() => {
      expect(scheduler.batches).toHaveLength(batches);
      expect(scheduler.ends).toHaveLength(1);
    });
    scheduler.ends.pop()?.();
    expect((await verdict).value).toMatchObject({ status: "valid" });
    // The second batch waits for no third block.
    await sleep(3 * LATE);
    fail();
  }
  await expect(verdicts.next()).rejects.toThrow("the connection is lost");
});
