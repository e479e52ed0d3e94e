/** The library `monero-ts` with the package's own checks, before a daemon without a guard. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import moneroTs, { type MoneroDaemonRpc } from "monero-ts";
import type { ChainFollower } from "../../wasm/js/index.js";
import { checkMoneroTs } from "../../wasm/js/monero-ts.js";
import { untilSynced, untilTip } from "../node/chain/support.js";
import { RandomX } from "../node/support.js";
import { alterHex, alterJson } from "./bytes-proxy.js";
import { Cleanup } from "./cleanup.js";
import { World, type Sent } from "./guard-world.js";

/** The time limit of a connection check, in milliseconds. */
const TIMEOUT = 10_000;

const cleanup = new Cleanup();
let world: World;
let sent: Sent;
let randomx: Awaited<ReturnType<typeof RandomX.create>>;
let chain: ChainFollower;
let daemon: MoneroDaemonRpc;
let restore: () => void;
let unverified: string[];

beforeAll(async () => {
  world = await World.start(110);
  cleanup.add(() => world.stop());
  sent = await world.send();
  randomx = await RandomX.create({ threads: 2 });
  cleanup.add(() => {
    randomx.dispose();
  });
  const sources = [{ node: world.daemon.url }];
  chain = randomx.follow(sources, { network: "regtest", fixedDifficulty: 1, poll: 1 });
  cleanup.add(() => chain.close());
  await untilSynced(chain);
});

beforeEach(async () => {
  unverified = [];
  restore = checkMoneroTs(moneroTs, chain, { onUnverified: (method) => unverified.push(method) });
  daemon = await moneroTs.connectToDaemonRpc({ server: world.proxy.url, proxyToWorker: false });
});

afterEach(() => {
  restore();
  world.proxy.alter = undefined;
});

afterAll(() => cleanup.run());

test("headers, blocks and transactions are those of the daemon", async () => {
  const height = (await world.truth()).height;
  expect(await daemon.getHeight()).toBe(height);
  expect((await daemon.getLastBlockHeader()).getHash()).toBe(world.tip);
  const block = await daemon.getBlockByHeight(sent.height);
  restore();
  const truth = await daemon.getBlockByHeight(sent.height);
  restore = checkMoneroTs(moneroTs, chain);
  expect(block.getHex()).toBe(truth.getHex());
  expect(block.getHash()).toBe(truth.getHash());
  expect(block.getTimestamp()).toBe(truth.getTimestamp());
  expect(block.getDifficulty()).toBe(truth.getDifficulty());
  expect(block.getTxHashes()).toEqual([sent.txid]);
  expect((await daemon.getBlockHeaderByHash(block.getHash())).getHeight()).toBe(sent.height);
  expect(await daemon.getBlockHeadersByRange(50, 80)).toHaveLength(31);
  const transaction = await daemon.getTx(sent.txid);
  expect(transaction?.getHash()).toBe(sent.txid);
  expect(transaction?.getBlock().getHeight()).toBe(sent.height);
  expect(transaction?.getNumConfirmations()).toBe(height - sent.height);
});

test("lies are errors", async () => {
  world.proxy.alter = (method, answer) =>
    method === "get_block"
      ? alterJson(answer, (block: { blob: string }) => {
          block.blob = alterHex(block.blob);
        })
      : answer;
  await expect(daemon.getBlockByHeight(50)).rejects.toThrow("another block than the chain's");
  world.proxy.alter = (method, answer) =>
    method === "/get_transactions"
      ? alterJson(answer, ({ txs }: { txs: { as_hex: string }[] }) => {
          for (const tx of txs) tx.as_hex = alterHex(tx.as_hex);
        })
      : answer;
  await expect(daemon.getTx(sent.txid)).rejects.toThrow("another transaction");
  expect(await daemon.getHeight()).toBe((await world.truth()).height);
});

test("answers that nobody can verify are named, and many blocks are refused", async () => {
  await daemon.getFeeEstimate();
  expect(unverified).toEqual(["get_fee_estimate"]);
  await expect(daemon.getBlocksByRange(10, 20)).rejects.toThrow("needs randomx guard");
  const connection = new moneroTs.MoneroRpcConnection({
    uri: world.proxy.url,
    proxyToWorker: false,
  });
  await connection.checkConnection(TIMEOUT);
  expect(connection.isConnected()).toBe(true);
});

test("a new block is shown once it is verified", async () => {
  const [id] = await world.mine(1);
  await untilTip(chain, id ?? "");
  expect((await daemon.getLastBlockHeader()).getHash()).toBe(id);
});

test("a daemon in its worker is refused", async () => {
  const settings = { server: world.proxy.url, proxyToWorker: true };
  await expect(moneroTs.connectToDaemonRpc(settings)).rejects.toThrow("nothing is checked");
});
