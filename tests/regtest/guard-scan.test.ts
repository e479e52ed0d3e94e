/** Seconds and bytes of a wallet's scan, directly and through `randomx guard`. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { Cleanup } from "./cleanup.js";
import { AMOUNT, World } from "./guard-world.js";
import { WalletRpc, type Shown } from "./wallet.js";

/** The length of the chain, and the blocks with a transaction, which begin after the hundredth. */
const BLOCKS = 1000;
const TRANSACTIONS = 30;

/** The most times that a scan through the guard may take as long as a direct one, by the medians. */
const MOST = 1.3;

/** The numbers of scans each way, in turns. Beside other work times differ twofold, so a median of few is not enough. */
const ROUNDS = { least: 5, most: 15 };

const cleanup = new Cleanup();
let world: World;
let wallet: WalletRpc;
let truth: Shown;

beforeAll(async () => {
  world = await World.start(100);
  cleanup.add(() => world.stop());
  const destinations = [{ amount: AMOUNT, address: world.address }];
  for (let sent = 0; sent < TRANSACTIONS; sent += 1) {
    await world.owner.refresh();
    await world.owner.call("transfer", { destinations });
    await world.mine(1);
  }
  await world.mine(BLOCKS - 100 - TRANSACTIONS);
  truth = await world.truth();
  wallet = await WalletRpc.start(world.daemon.url);
  cleanup.add(() => wallet.stop());
  await wallet.restore("scanner", world.seed, 0);
  await wallet.refresh();
}, 900_000);

afterAll(() => cleanup.run());

/** Has the wallet scan the whole chain again at a node, and returns the milliseconds. */
async function scan(url: string): Promise<number> {
  await wallet.connect(url);
  const begin = performance.now();
  await wallet.call("rescan_blockchain", { hard: true });
  const took = performance.now() - begin;
  expect(await wallet.shown()).toEqual(truth);
  return took;
}

test(`a scan through the guard takes at most ${MOST} times as long`, async () => {
  expect(truth.height).toBe(BLOCKS + 1);
  await world.guarded(
    async (guard) => {
      const direct: number[] = [];
      const guarded: number[] = [];
      let ratio = Infinity;
      while (direct.length < (ratio <= MOST ? ROUNDS.least : ROUNDS.most)) {
        direct.push(await scan(world.daemon.url));
        guarded.push(await scan(guard.url));
        ratio = median(guarded) / median(direct);
      }
      console.log(
        `scan of ${BLOCKS} blocks, medians of ${direct.length}: ${median(direct).toFixed(0)} ms directly, ` +
          `${median(guarded).toFixed(0)} ms through the guard, ${ratio.toFixed(2)} times as long; ` +
          `all: ${[...direct, ...guarded].map((time) => time.toFixed(0)).join(" ")}`,
      );
      expect(ratio).toBeLessThanOrEqual(MOST);
    },
    [world.daemon.url],
  );
}, 900_000);

test("a scan through the guard takes few more bytes where blocks are small", async () => {
  await world.guarded(async (guard) => {
    /** Returns the bytes of bodies that pass the proxy before the daemon during a scan. */
    const bytes = async (url: string): Promise<number> => {
      world.proxy.bytes = 0;
      await scan(url);
      return world.proxy.bytes;
    };
    const direct = await bytes(world.proxy.url);
    const guarded = await bytes(guard.url);
    console.log(`bytes of bodies: wallet and node ${direct}, guard and node ${guarded}`);
    // Whole transactions in place of pruned ones.
    expect(guarded).toBeLessThan(3 * direct);
  });
}, 900_000);

function median(numbers: number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;
}
