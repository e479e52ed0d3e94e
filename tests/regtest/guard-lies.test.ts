/** Debian's wallet behind `randomx guard` before a daemon whose answers are altered on the way. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { alterHex, alterJson, type AlterBytes } from "./bytes-proxy.js";
import { Cleanup } from "./cleanup.js";
import { Daemon } from "./daemon.js";
import { Guard, type GuardStatus } from "./guard.js";
import { AMOUNT, evidence, World, type Sent } from "./guard-world.js";
import { NONCE } from "./mine.js";

const cleanup = new Cleanup();
let world: World;
let sent: Sent;

beforeAll(async () => {
  world = await World.start(100);
  cleanup.add(() => world.stop());
  sent = await world.send();
});

afterAll(() => cleanup.run());

/** Alters answers with blocks. */
function blocks(change: (answer: Buffer) => Buffer | undefined): AlterBytes {
  return (method, answer) => (method === "/getblocks.bin" ? change(answer) : answer);
}

/** Flips a bit at a distance from the end of a field's name, where it appears for the nth time. */
function flip(name: string, distance: number, nth = 1): AlterBytes {
  const marker = Buffer.from([name.length, ...Buffer.from(name)]);
  return blocks((answer) => {
    let place = -1;
    for (let found = 0; found < nth; found += 1) place = answer.indexOf(marker, place + 1);
    if (place < 0) return answer;
    const target = place + marker.length + distance;
    answer.writeUInt8(answer.readUInt8(target) ^ 1, target);
    return answer;
  });
}

/** A value follows its type, and the length of a block with more than 63 bytes in two bytes. */
const IN_BLOCK = 1 + 2;

/** A list's type and number of entries, and the length of its first one. */
const IN_TRANSACTION = 1 + 1 + 2;

interface BlockLie {
  name: string;
  alter: AlterBytes;
  /** The guard's sentence. `HEIGHT` stands for the height of the block with the transaction. */
  reason: string;
}

const LIES: BlockLie[] = [
  {
    name: "a block with another's work",
    // Another nonce: not the block whose work was checked.
    alter: flip("block", IN_BLOCK + NONCE, 30),
    reason: "^block 29 is not on the verified chain$",
  },
  {
    name: "a block of another height",
    alter: blocks((answer) => {
      const [tenth, eleventh] = [10, 11].map((nth) => blobAt(answer, nth));
      if (!tenth || tenth.length !== eleventh?.length) return answer;
      const copy = Buffer.from(tenth);
      eleventh.copy(tenth);
      copy.copy(eleventh);
      return answer;
    }),
    reason: "^block 9 is not on the verified chain$",
  },
  {
    name: "a missing transaction",
    // The list's name is another one, which wallets do not read.
    alter: flip("txs", -1),
    reason: "^block HEIGHT has 1 transactions, 0 were sent$",
  },
  {
    name: "a transaction whose outputs are altered",
    alter: flip("txs", IN_TRANSACTION + 110),
    reason: "^block HEIGHT has another transaction than [0-9a-f]{64}$",
  },
  {
    name: "a transaction whose signature is altered",
    alter: flip("txs", IN_TRANSACTION + 1400),
    reason: "^block HEIGHT has another transaction than [0-9a-f]{64}$",
  },
];

/** Returns the nth block in an answer. */
function blobAt(answer: Buffer, nth: number): Buffer | undefined {
  const marker = Buffer.from("\x05block");
  let place = -1;
  for (let found = 0; found < nth; found += 1) place = answer.indexOf(marker, place + 1);
  if (place < 0) return undefined;
  const length = answer.readUInt16LE(place + marker.length + 1) >> 2;
  const start = place + marker.length + IN_BLOCK;
  return answer.subarray(start, start + length);
}

describe.each(LIES)("$name", ({ alter, reason: template }) => {
  /** A busy daemon may mine the transaction a block later. */
  const pattern = (): RegExp => new RegExp(template.replace("HEIGHT", String(sent.height)));

  test("is refused, kept as evidence, and not shown", async () => {
    const reason = pattern();
    await world.guarded(async (guard, store) => {
      // The wallet begins to scan as soon as it exists.
      world.proxy.alter = alter;
      await world.scanner(guard.url, async (wallet) => {
        // The wallet shows an error of its own. The guard's sentence is on its page and in its log.
        await expect(wallet.refresh()).rejects.toThrow(
          /^(?:failed to get blocks|error getting transaction pool)$/,
        );
        expect(await wallet.shown()).toEqual({ height: 1, balance: 0 });
        const { nodes, refused } = await guard.status();
        expect(refused, guard.log).toHaveLength(1);
        expect(refused[0]).toMatchObject({ node: world.proxy.url, method: "getblocks.bin" });
        expect(refused[0]?.reason).toMatch(reason);
        expect(nodes[0]?.dropped).toMatch(reason);
        expect(guard.log).toContain(`${world.proxy.url} sent false data in getblocks.bin: `);
        expect(await evidence(store)).toEqual(["lie-1.json"]);
        const kept = JSON.parse(await readFile(join(store, "lie-1.json"), "utf8")) as {
          evidence: { block: string; verified_id: string };
        };
        expect(kept.evidence.block).toMatch(/^[0-9a-f]{200,}$/);
        expect(kept.evidence.verified_id).toMatch(/^[0-9a-f]{64}$/);
        // The node stays dropped when it tells the truth again.
        world.proxy.alter = undefined;
        await expect(wallet.refresh()).rejects.toThrow();
        expect((await guard.status()).refused).toHaveLength(1);
      });
    });
  });

  test("does not keep the wallet from the other node's truth", async () => {
    const reason = pattern();
    await world.guarded(
      async (guard) => {
        world.proxy.alter = alter;
        await world.scanner(guard.url, async (wallet) => {
          // The wallet tries again by itself.
          expect(await wallet.refresh()).toEqual(await world.truth());
          const { nodes, refused } = await guard.status();
          expect(refused[0]?.reason).toMatch(reason);
          expect(nodes.map(({ dropped }) => dropped !== null)).toEqual([true, false]);
        });
      },
      [world.proxy.url, world.daemon.url],
    );
  });
});

test("a transaction altered in an answer by its hash is refused", async () => {
  await world.guarded(async (guard, store) => {
    await world.scanner(guard.url, async (wallet) => {
      const check = { txid: sent.txid, tx_key: sent.key, address: world.address };
      const honest = (await wallet.call("check_tx_key", check)) as { received: number };
      expect(honest.received).toBeGreaterThanOrEqual(AMOUNT);
      world.proxy.alter = (method, answer) =>
        method === "/gettransactions"
          ? alterJson(answer, ({ txs }: { txs: { pruned_as_hex: string }[] }) => {
              for (const tx of txs) tx.pruned_as_hex = alterHex(tx.pruned_as_hex);
            })
          : answer;
      await expect(wallet.call("check_tx_key", check)).rejects.toThrow();
      const { refused } = await guard.status();
      expect(refused[0]?.reason, guard.log).toBe(`another transaction than ${sent.txid} was sent`);
      expect(await evidence(store)).toEqual(["lie-1.json"]);
    });
  });
});

test("inflated fees are refused, and nothing is sent", async () => {
  await world.guarded(async (guard, store) => {
    await world.scanner(guard.url, async (wallet) => {
      const before = await wallet.refresh();
      world.proxy.alter = (method, answer) =>
        method === "get_fee_estimate"
          ? alterJson(answer, (estimate: { fee: number; fees: number[] }) => {
              estimate.fee *= 100;
              estimate.fees = estimate.fees.map((fee) => fee * 100);
            })
          : answer;
      const destinations = [{ amount: AMOUNT, address: world.address }];
      await expect(wallet.call("transfer", { destinations })).rejects.toThrow();
      const { nodes, refused } = await guard.status();
      expect(refused[0], guard.log).toMatchObject({ method: "get_fee_estimate" });
      expect(refused[0]?.reason).toMatch(/^the fee estimate \d+ for a byte exceeds \d+, 10 times/);
      expect(nodes[0]?.dropped).toBe(refused[0]?.reason);
      expect(await evidence(store)).toEqual(["lie-1.json"]);
      expect(await wallet.shown()).toEqual(before);
    });
  });
});

describe("old tips", () => {
  /** The answer of a node to a wallet that has all of its blocks: `OK`, and no block. */
  const NOTHING_NEW = Buffer.from(
    "01110101010102010108067374617475730a084f4b0c73746172745f6865696768740500000000" + "00000000",
    "hex",
  );

  test("a wallet that has old blocks learns that there are newer ones", async () => {
    await world.guarded(async (guard, store) => {
      await world.scanner(guard.url, async (wallet) => {
        const before = await wallet.refresh();
        await world.mine(3);
        await guard.reach(world.tip);
        world.proxy.alter = blocks(() => NOTHING_NEW);
        await expect(wallet.refresh()).rejects.toThrow();
        expect((await wallet.shown()).height).toBe(before.height);
        // The node may only be slow: it is asked again.
        const { nodes, refused } = await guard.status();
        expect(refused).toEqual([]);
        expect(nodes[0]?.dropped).toBeNull();
        expect(nodes[0]?.failure).toContain("no newer block");
        expect(await evidence(store)).toEqual([]);
        world.proxy.alter = undefined;
        expect(await wallet.refresh()).toEqual(await world.truth());
      });
    });
  });

  test("a node that shows an old chain is behind, and is not accused", async () => {
    const old = await Daemon.start(1);
    try {
      await old.copy(world.daemon, 1, 90);
      await world.guarded(
        async (guard, store) => {
          await world.scanner(guard.url, async (wallet) => {
            await expect(wallet.refresh()).rejects.toThrow("failed to get blocks");
            expect((await wallet.shown()).height).toBeLessThanOrEqual(91);
            const { nodes, refused, sources, tip } = await guard.status();
            expect(tip?.id).toBe(world.tip);
            expect(sources[0]?.state, guard.log).toBe("behind");
            expect(refused).toEqual([]);
            expect(nodes[0]?.dropped).toBeNull();
            expect(await evidence(store)).toEqual([]);
          });
        },
        [old.url],
      );
    } finally {
      await old.stop();
    }
  });
});

describe("nodes of other chains", () => {
  /** Scans with a guard before a node alone, and before that node and the honest one. */
  async function scan(other: Daemon): Promise<{ alone: GuardStatus; beside: GuardStatus }> {
    const statuses: GuardStatus[] = [];
    for (const nodes of [[other.url], [other.url, world.daemon.url]]) {
      const guard = await Guard.spawn(await world.verified(), nodes);
      try {
        await guard.until(({ sources }) => sources.every(({ state }) => state !== "connecting"));
        await world.scanner(guard.url, async (wallet) => {
          if (nodes.length === 1) {
            await expect(wallet.refresh()).rejects.toThrow();
            expect((await wallet.shown()).height).toBe(1);
          } else {
            expect(await wallet.refresh()).toEqual(await world.truth());
          }
        });
        const status = await guard.status();
        expect(status.tip?.id).toBe(world.tip);
        statuses.push(status);
      } finally {
        await guard.kill();
      }
    }
    const [alone, beside] = statuses;
    if (!alone || !beside) throw new Error("expected two scans");
    return { alone, beside };
  }

  /** Starts a daemon whose chain parts from the honest one some blocks before its end. */
  async function fork(depth: number): Promise<Daemon> {
    const other = await Daemon.start(1);
    const { height } = await world.truth();
    await other.copy(world.daemon, 1, height - 1 - depth);
    await other.generate(2);
    return other;
  }

  test("a short fork with less work is not followed, and not accused", async () => {
    const other = await fork(5);
    try {
      for (const { nodes, refused } of Object.values(await scan(other))) {
        expect(refused).toEqual([]);
        expect(nodes[0]?.dropped).toBeNull();
      }
    } finally {
      await other.stop();
    }
  });

  test("a long fork with less work is refused as a lie", async () => {
    const other = await fork(15);
    try {
      for (const { nodes, refused } of Object.values(await scan(other))) {
        expect(refused).toHaveLength(1);
        expect(refused[0]?.reason).toMatch(/^block \d+ is not on the verified chain$/);
        expect(nodes[0]?.dropped).toBe(refused[0]?.reason);
      }
    } finally {
      await other.stop();
    }
  });

  test.each(["testnet", "stagenet"] as const)("the %s is not followed", async (network) => {
    const other = await Daemon.startEmpty(network);
    try {
      for (const { sources } of Object.values(await scan(other))) {
        expect(sources[0]?.state).toBe("other-network");
      }
    } finally {
      await other.stop();
    }
  });
});

describe("nodes that do not answer are not accused", () => {
  const SILENCES: [string, AlterBytes][] = [
    ["ends the connection", (_, __, response) => void response.destroy()],
    ["never answers", () => undefined],
    [
      "never ends the answer",
      (_, answer, response) => void response.write(answer.subarray(0, 100)),
    ],
    ["answers with something else", () => Buffer.from("<html>busy</html>")],
    ["answers with an error", (_, __, response) => void response.writeHead(502).end()],
  ];

  test.each(SILENCES)("one that %s", async (_, alter) => {
    await world.guarded(
      async (guard, store) => {
        world.proxy.alter = alter;
        await world.scanner(guard.url, async (wallet) => {
          await expect(wallet.refresh()).rejects.toThrow();
          expect(await wallet.shown()).toEqual({ height: 1, balance: 0 });
          await guard.until(({ sources }) => sources[0]?.state === "unresponsive");
          const { nodes, refused } = await guard.status();
          expect(nodes[0]?.dropped).toBeNull();
          expect(refused).toEqual([]);
          expect(await evidence(store)).toEqual([]);
          world.proxy.alter = undefined;
          expect(await wallet.refresh()).toEqual(await world.truth());
        });
      },
      [world.proxy.url],
      { timeout: 1 },
    );
  });
});
