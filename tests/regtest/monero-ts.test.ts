/** The library `monero-ts`, unmodified, behind `randomx guard`. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import moneroTs, { type MoneroDaemonRpc } from "monero-ts";
import { alterHex, alterJson, type AlterBytes } from "./bytes-proxy.js";
import { Cleanup } from "./cleanup.js";
import type { Guard } from "./guard.js";
import { evidence, World, type Sent } from "./guard-world.js";
import { NONCE } from "./mine.js";

/** The time limit of a connection check, in milliseconds. */
const TIMEOUT = 10_000;

const cleanup = new Cleanup();
const afterTest = new Cleanup();
let world: World;
let sent: Sent;
let guard: Guard;
let store: string;
let daemon: MoneroDaemonRpc;

beforeAll(async () => {
  world = await World.start(110);
  cleanup.add(() => world.stop());
  sent = await world.send();
});

beforeEach(async () => {
  ({ guard, store } = await world.guard([world.proxy.url]));
  afterTest.add(() => guard.kill());
  daemon = await connect(guard.url);
});

afterEach(async () => {
  world.proxy.alter = undefined;
  await afterTest.run();
});

afterAll(() => cleanup.run());

function connect(server: string): Promise<MoneroDaemonRpc> {
  // In a worker, errors would lose their text.
  return moneroTs.connectToDaemonRpc({ server, proxyToWorker: false });
}

test("headers, blocks and transactions are those of the daemon", async () => {
  const direct = await connect(world.daemon.url);
  expect(await daemon.isConnected()).toBe(true);
  expect(await daemon.getHeight()).toBe(await direct.getHeight());
  expect((await daemon.getLastBlockHeader()).getHash()).toBe(world.tip);
  for (const height of [1, 100, sent.height]) {
    const [through, truth] = [
      await daemon.getBlockByHeight(height),
      await direct.getBlockByHeight(height),
    ];
    expect(through.getHex()).toBe(truth.getHex());
    expect(through.getHash()).toBe(truth.getHash());
    expect(through.getTimestamp()).toBe(truth.getTimestamp());
    expect(through.getDifficulty()).toBe(truth.getDifficulty());
    expect(through.getTxHashes()).toEqual(truth.getTxHashes());
    expect((await daemon.getBlockHeaderByHash(truth.getHash())).getHeight()).toBe(height);
  }
  const range = await daemon.getBlocksByRange(90, sent.height);
  const truths = await direct.getBlocksByRange(90, sent.height);
  const described = (blocks: typeof range): unknown =>
    blocks.map((block) => [block.getHeight(), block.getPrevHash(), block.getTxHashes()]);
  expect(described(range)).toEqual(described(truths));
  const transaction = await daemon.getTx(sent.txid);
  const truth = await direct.getTx(sent.txid);
  expect(transaction?.getFullHex()).toBe(truth?.getFullHex());
  expect(transaction?.getBlock().getHeight()).toBe(sent.height);
  expect(transaction?.getNumConfirmations()).toBe((await daemon.getHeight()) - sent.height);
  expect((await daemon.getFeeEstimate()).getFee()).toBe((await direct.getFeeEstimate()).getFee());
  expect((await guard.status()).refused, guard.log).toEqual([]);
});

test("its connection check finds the guard online", async () => {
  const connection = new moneroTs.MoneroRpcConnection({ uri: guard.url, proxyToWorker: false });
  await connection.checkConnection(TIMEOUT);
  expect(connection.isConnected()).toBe(true);
});

const LIES: [string, AlterBytes, () => Promise<unknown>, RegExp][] = [
  [
    "a block with another's work",
    (method, answer) =>
      method === "get_block"
        ? alterJson(answer, (block: { blob: string }) => {
            // Another nonce.
            const [begin, end] = [2 * NONCE, 2 * (NONCE + 4)];
            block.blob = `${block.blob.slice(0, begin)}ffffffff${block.blob.slice(end)}`;
          })
        : answer,
    () => daemon.getBlockByHeight(50),
    /block 50 is not on the verified chain/,
  ],
  [
    "an altered transaction",
    (method, answer) =>
      method === "/gettransactions"
        ? alterJson(answer, ({ txs }: { txs: { prunable_as_hex: string }[] }) => {
            for (const tx of txs) tx.prunable_as_hex = alterHex(tx.prunable_as_hex);
          })
        : answer,
    () => daemon.getTx(sent.txid),
    /another transaction than/,
  ],
];

test.each(LIES)("%s is an error that says so", async (_, alter, ask, reason) => {
  world.proxy.alter = alter;
  await expect(ask()).rejects.toThrow(reason);
  expect((await guard.status()).nodes[0]?.dropped).toMatch(reason);
  expect(await evidence(store)).toEqual(["lie-1.json"]);
});

test("inflated fees give way to the guard's own estimate", async () => {
  const direct = await connect(world.daemon.url);
  world.proxy.alter = (method, answer) =>
    method === "get_fee_estimate"
      ? alterJson(answer, (estimate: { fee: number }) => {
          estimate.fee *= 100;
        })
      : answer;
  const [own, honest] = [await daemon.getFeeEstimate(), await direct.getFeeEstimate()];
  expect([own.getFee(), own.getFees()]).toEqual([honest.getFee(), honest.getFees()]);
  expect((await guard.status()).nodes[0]?.dropped).toMatch(
    /^the fee estimate \d+ for a byte exceeds/,
  );
  expect(await evidence(store)).toEqual(["lie-1.json"]);
});
