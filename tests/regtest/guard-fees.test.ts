/** The fees that Debian's wallet pays behind `randomx guard` before a daemon whose estimates are altered on the way. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { alterJson, type AlterBytes } from "./bytes-proxy.js";
import { Cleanup } from "./cleanup.js";
import { AMOUNT, World } from "./guard-world.js";

/** The numbers of the four priorities. */
const PRIORITIES = [1, 2, 3, 4];

/** The multiple to which the wallet rounds its fee up. */
const MULTIPLE = 10_000;

interface Estimate {
  status: string;
  fee: number;
  fees: number[];
  quantization_mask: number;
}

const cleanup = new Cleanup();
let world: World;
let honest: number[];

beforeAll(async () => {
  world = await World.start(100);
  cleanup.add(() => world.stop());
  await world.send();
  ({ fees: honest } = (await world.daemon.call("get_fee_estimate")) as unknown as Estimate);
});

afterAll(() => cleanup.run());

/** Alters estimates. */
function estimates(change: (estimate: Estimate) => void): AlterBytes {
  return (method, answer) => (method === "get_fee_estimate" ? alterJson(answer, change) : answer);
}

const NO_ESTIMATES: [string, AlterBytes][] = [
  ["a status other than OK", estimates((estimate) => void (estimate.status = "Failed"))],
  [
    "no fee for a priority",
    estimates((estimate) => void Object.assign(estimate, { fee: 0, fees: [] })),
  ],
  [
    "an error of HTTP",
    (method, answer, response) => {
      if (method !== "get_fee_estimate") return answer;
      response.writeHead(500, { connection: "close" }).end();
      return undefined;
    },
  ],
];

const BESIDE_A_NODE: [string, AlterBytes][] = [
  [
    "fees just below their limits",
    estimates((estimate) => {
      estimate.fee = 0;
      estimate.fees = estimate.fees.map((fee) => fee * 9);
    }),
  ],
  ...NO_ESTIMATES,
];

/**
 * Has a wallet pay with each priority behind a guard before nodes, and compares the fees with the daemon's
 * estimates. Returns why answers were refused as lies.
 */
async function pay(alter: AlterBytes, nodes: string[]): Promise<string[]> {
  const reasons: string[] = [];
  await world.guarded(async (guard) => {
    await world.scanner(guard.url, async (wallet) => {
      await wallet.refresh();
      world.proxy.alter = alter;
      const destinations = [{ amount: AMOUNT, address: world.address }];
      for (const priority of PRIORITIES) {
        const transfer = { destinations, priority, do_not_relay: true };
        const paid = (await wallet.call("transfer", transfer)) as { fee: number; weight: number };
        const expected = (honest[priority - 1] ?? 0) * paid.weight;
        expect(paid.fee % MULTIPLE, guard.log).toBe(0);
        expect(paid.fee / expected, guard.log).toBeGreaterThan(0.98);
        expect(paid.fee / expected, guard.log).toBeLessThan(1.02);
      }
      reasons.push(...(await guard.status()).refused.map(({ reason }) => reason));
    });
  }, nodes);
  return reasons;
}

test("the daemon's estimate has a fee for each priority", () => {
  expect(honest).toHaveLength(PRIORITIES.length);
});

test.each(NO_ESTIMATES)("a node alone that sends %s", async (_, alter) => {
  expect(await pay(alter, [world.proxy.url])).toEqual([]);
});

test.each(BESIDE_A_NODE)("a node that sends %s beside an honest one", async (_, alter) => {
  expect(await pay(alter, [world.proxy.url, world.daemon.url])).toEqual([]);
});

test("a node that inflates fees beside an honest one is dropped", async () => {
  const inflate = estimates((estimate) => {
    estimate.fee *= 100;
    estimate.fees = estimate.fees.map((fee) => fee * 100);
  });
  const refused = await pay(inflate, [world.proxy.url, world.daemon.url]);
  expect(refused).toHaveLength(1);
  expect(refused[0]).toMatch(/^the fee estimate \d+ for a byte exceeds \d+, 10 times/);
});
