/** Debian's wallet, unmodified, behind `randomx guard` before an honest daemon. */
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freePort } from "../programs.js";
import { Cleanup } from "./cleanup.js";
import { Guard } from "./guard.js";
import { AMOUNT, evidence, World } from "./guard-world.js";
import { SocksProxy } from "./socks.js";
import { TlsNode } from "./tls.js";
import { WalletRpc } from "./wallet.js";

/** An address at which nobody answers. */
const NOBODY = "http://127.0.0.1:9";

const cleanup = new Cleanup();
let world: World;

beforeAll(async () => {
  world = await World.start(110);
  cleanup.add(() => world.stop());
});

afterAll(() => cleanup.run());

test("wallets create, receive, scan from a height, send and confirm", async () => {
  await world.guarded(async (guard, store) => {
    const receiver = await WalletRpc.start(guard.url, undefined, "autodetect");
    try {
      const { address, seed } = await receiver.create("receiver");
      expect(await receiver.refresh()).toEqual({ height: 111, balance: 0 });
      await world.scanner(guard.url, async (sender) => {
        const before = await sender.refresh();
        expect(before).toEqual(await world.truth());
        expect(before.balance).toBeGreaterThan(0);
        const destinations = [{ amount: AMOUNT, address }];
        const sent = (await sender.call("transfer", { destinations })) as {
          tx_hash: string;
          fee: number;
        };
        const { pool } = (await receiver.call("get_transfers", { pool: true })) as {
          pool?: { txid: string }[];
        };
        expect(pool?.map(({ txid }) => txid)).toEqual([sent.tx_hash]);

        await world.mine(12);
        await guard.reach(world.tip);
        expect(await receiver.refresh()).toEqual({ height: 123, balance: AMOUNT });
        expect(await sender.refresh()).toEqual(await world.truth());
        const { transfer } = (await sender.call("get_transfer_by_txid", {
          txid: sent.tx_hash,
        })) as { transfer: Record<string, unknown> };
        expect(transfer).toMatchObject({ type: "out", height: 111, confirmations: 12 });

        // From a height on: the payment is after 105, and before 118.
        await receiver.restore("early", seed, 105);
        expect(await receiver.refresh()).toEqual({ height: 123, balance: AMOUNT });
        await receiver.restore("late", seed, 118);
        expect(await receiver.refresh()).toEqual({ height: 123, balance: 0 });
      });
    } finally {
      await receiver.stop();
    }
    const status = await guard.status();
    expect(status.refused, guard.log).toEqual([]);
    expect(await evidence(store)).toEqual([]);
    expect(Object.keys(status.verified)).toContain("getblocks.bin");
    const outputs = ["getblocks.bin: output_indices", "get_outs.bin"];
    for (const method of [...outputs, "get_fee_estimate", "sendrawtransaction"]) {
      expect(Object.keys(status.notVerified)).toContain(method);
      expect(guard.log).toContain(`forwarded without verification: ${method}`);
    }
  });
});

test("wallet and guard are started again", async () => {
  const store = await world.store();
  const port = await freePort();
  let guard = await Guard.start(store, [world.daemon.url], { port });
  let wallet = await WalletRpc.start(guard.url, undefined, "autodetect");
  try {
    await guard.reach(world.tip);
    await wallet.restore("owner", world.seed, 0);
    const before = await wallet.refresh();
    expect(before).toEqual(await world.truth());

    await guard.kill();
    await expect(wallet.refresh()).rejects.toThrow();
    expect(await wallet.shown()).toEqual(before);
    await world.mine(2, world.address);
    guard = await Guard.start(store, [world.daemon.url], { port });
    await guard.reach(world.tip);
    const after = await wallet.refresh();
    expect(after).toEqual(await world.truth());
    expect(after.height).toBe(before.height + 2);

    wallet = await wallet.restart(guard.url);
    await wallet.open("owner");
    expect(await wallet.shown()).toEqual(after);
    await world.mine(1, world.address);
    await guard.reach(world.tip);
    expect(await wallet.refresh()).toEqual(await world.truth());
  } finally {
    await wallet.stop();
    await guard.kill();
  }
});

test("a wallet follows a reorganisation, and its transaction is mined again", async () => {
  await world.guarded(async (guard) => {
    await world.scanner(guard.url, async (wallet) => {
      const before = await wallet.refresh();
      const destinations = [{ amount: AMOUNT, address: world.address }];
      const { tx_hash: txid } = (await wallet.call("transfer", { destinations })) as {
        tx_hash: string;
      };
      const [mined] = await world.mine(5);
      await guard.reach(world.tip);
      await wallet.refresh();
      const height = async (): Promise<unknown> => {
        const { transfer } = (await wallet.call("get_transfer_by_txid", { txid })) as {
          transfer: { height: number };
        };
        return transfer.height;
      };
      expect(await height()).toBe(before.height);

      // Five blocks are replaced by seven. The first of these has the transaction again.
      await world.daemon.pop(5);
      const [other] = await world.mine(7, world.address);
      expect(other).not.toBe(mined);
      await guard.reach(world.tip);
      const after = await wallet.refresh();
      expect(after).toEqual(await world.truth());
      expect(after.height).toBe(before.height + 7);
      expect(await height()).toBe(before.height);
      expect((await guard.status()).refused, guard.log).toEqual([]);
    });
  });
});

test("a node with an .onion name is reached through a proxy, which alone learns the name", async () => {
  const proxy = await SocksProxy.start(Number(new URL(world.daemon.url).port));
  const name = "randomxwebtestnode.onion";
  try {
    await world.guarded(
      async (guard) => {
        await world.scanner(guard.url, async (wallet) => {
          expect(await wallet.refresh()).toEqual(await world.truth());
        });
      },
      [`http://${name}:18081`],
      { proxy: proxy.url },
    );
    expect(new Set(proxy.requested)).toEqual(new Set([name]));
  } finally {
    proxy.close();
  }
});

/** Expects that a guard uses a node if it trusts the node's certificate. */
async function expectUsed({ url, authority }: TlsNode): Promise<void> {
  await world.guarded(
    async (guard) => {
      await world.scanner(guard.url, async (wallet) => {
        expect(await wallet.refresh()).toEqual(await world.truth());
      });
    },
    [url],
    { authority },
  );
}

/** Expects that a guard which trusts this certificate refuses a node's. */
async function expectRefused(node: string, authority: string | undefined): Promise<void> {
  await using guard = await Guard.spawn(await world.store(), [node], { authority });
  await guard.until(({ sources }) => sources[0]?.state === "unresponsive");
  expect((await guard.status()).sources[0]?.problem).toContain("invalid peer certificate");
}

test("a node behind TLS is used if its certificate is trusted", async () => {
  const tls = await TlsNode.before(world.daemon.url);
  try {
    await expectUsed(tls);
    // Neither an unknown authority nor another name is trusted.
    await expectRefused(tls.url, undefined);
    await expectRefused(tls.url.replace("localhost", "127.0.0.1"), tls.authority);
  } finally {
    await tls.close();
  }
});

test.each(["node", "node-version-1"] as const)(
  "a node behind TLS is used if its own certificate is trusted (%s)",
  async (signer) => {
    const tls = await TlsNode.before(world.daemon.url, signer);
    const stranger = await TlsNode.before(world.daemon.url, signer);
    try {
      await expectUsed(tls);
      await expectRefused(tls.url, stranger.authority);
    } finally {
      await tls.close();
      await stranger.close();
    }
  },
);

test("a guard that is killed at any moment loses nothing", async () => {
  const store = await world.store();
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const wallet = await WalletRpc.start(url);
  const moments: number[] = [];
  try {
    await wallet.restore("owner", world.seed, 0);
    let shown = 0;
    for (let round = 0; round < 12; round += 1) {
      await using guard = await Guard.spawn(store, [world.daemon.url], { port });
      // The wallet scans, and the chain grows, while the guard is killed.
      const scan = wallet.refresh().catch(() => undefined);
      const growth = round % 3 === 0 ? world.mine(1, world.address) : undefined;
      const moment = Math.random() * 1500;
      moments.push(moment);
      const end = performance.now() + moment;
      while (performance.now() < end) {
        const { tip } = await guard.status();
        shown = Math.max(shown, tip?.height ?? 0);
        await pause(5);
      }
      await guard.kill();
      await Promise.all([scan, growth]);

      // Its successor has everything that it showed, without asking anybody.
      await using alone = await Guard.spawn(store, [NOBODY], { port });
      const { tip } = await alone.status();
      expect(tip?.height ?? 0, `killed after ${moments.join(", ")} ms`).toBeGreaterThanOrEqual(
        shown,
      );
    }
    await using guard = await Guard.start(store, [world.daemon.url], { port });
    await guard.reach(world.tip);
    expect(await wallet.refresh()).toEqual(await world.truth());
    expect(await evidence(store)).toEqual([]);
  } finally {
    await wallet.stop();
  }
});
