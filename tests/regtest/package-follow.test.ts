/** `RandomX.follow` with two daemons whose chains part and meet again. */
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { FileStore, type FollowOptions } from "../../wasm/js/index.js";
import { collect, eventOf, untilSynced, untilTip } from "../node/chain/support.js";
import { RandomX } from "../node/support.js";
import { Cleanup } from "./cleanup.js";
import { run } from "./cli.js";
import { Daemon } from "./daemon.js";
import { makeFolder, removeFolder } from "./leftovers.js";
import { blob } from "./lies.js";
import { Proxy } from "./proxy.js";

/** The last common block, and the lengths of both sides. */
const COMMON = 10;
const SHORT = 5;
const LONG = 8;

const cleanup = new Cleanup();
let a: Daemon;
let b: Daemon;
let short: string[];
let long: string[];
let folder: string;
let randomx: Awaited<ReturnType<typeof RandomX.create>>;
let options: FollowOptions;

beforeAll(async () => {
  randomx = await RandomX.create();
  cleanup.add(() => {
    randomx.dispose();
  });
  [a, b] = await Daemon.startTwo();
  cleanup.add(() => Promise.all([a.stop(), b.stop()]));
  folder = await makeFolder("follow");
  cleanup.add(() => removeFolder(folder));
  const store = new FileStore(join(folder, "chain"));
  options = { network: "regtest", fixedDifficulty: 1, poll: 1, store };
  await a.generate(COMMON);
  await b.copy(a, 1, COMMON);
  short = await a.generate(SHORT);
  long = await b.generate(LONG);
});

afterAll(() => cleanup.run());

test("the chain with more work wins, and the fork is evidence for the command line", async () => {
  const first = randomx.follow([{ node: a.url }], options);
  await untilSynced(first);
  expect(first.tip?.id).toBe(short.at(-1));
  await first.close();

  const both = randomx.follow([{ node: a.url }, { node: b.url }], options);
  const events = await collect(
    both,
    (event) => event.type === "disagreement" && event.source.index === 0,
  );
  await both.close();
  const reorg = eventOf(events, "reorg");
  expect(reorg).toMatchObject({ common: { height: COMMON }, depth: SHORT });
  expect(reorg?.reverted.blocks.map(({ id }) => id)).toEqual(short);
  expect(reorg?.adopted.blocks.map(({ id }) => id)).toEqual(long);
  const file = join(folder, "evidence");
  await new FileStore(file).save(eventOf(events, "disagreement")?.evidence ?? new Uint8Array());
  const verified = await run("verify", "--evidence", file);
  expect(verified.code, verified.stderr).toBe(0);
});

test("nodes part, lose blocks and meet while the chain is followed", async () => {
  const chain = randomx.follow([{ node: a.url }, { node: b.url }], options);
  await untilSynced(chain);
  expect(chain.tip?.id).toBe(long.at(-1));
  // The shorter side overtakes.
  const more = await a.generate(LONG);
  const overtaken = await untilTip(chain, more.at(-1) ?? "");
  expect(eventOf(overtaken, "reorg")).toMatchObject({ depth: LONG, common: { height: COMMON } });
  // It loses blocks, and mines more of them anew.
  await a.pop(2);
  const other = await a.generate(4);
  await untilTip(chain, other.at(-1) ?? "");
  // The other node joins, and mines.
  const height = COMMON + SHORT + LONG - 2 + 4;
  await b.pop(LONG);
  await b.copy(a, COMMON + 1, height);
  const [next] = await b.generate(1);
  await untilTip(chain, next ?? "");
  expect(chain.tip?.height).toBe(height + 1);
  await chain.close();
});

test("transactions are found, and proven", async () => {
  const chain = randomx.follow([{ node: a.url }], options);
  await untilSynced(chain);
  const { block_header: header } = (await a.call("get_block_header_by_height", { height: 7 })) as {
    block_header: { hash: string; miner_tx_hash: string };
  };
  expect(await chain.find(header.miner_tx_hash)).toEqual({
    height: 7,
    blockId: header.hash,
    confirmations: chain.confirmations(7),
  });
  expect(await chain.find(header.hash)).toBeUndefined();
  await chain.close();
});

test("a node that lies is invalid, or cannot be used, and the other is followed", async () => {
  const lies = {
    // The version of an earlier fork.
    invalid: blob((bytes) => {
      bytes[0] = 15;
      return bytes;
    })(12),
    unresponsive: blob((bytes) => bytes.subarray(0, 40))(12),
  };
  for (const [state, alter] of Object.entries(lies)) {
    const proxy = await Proxy.before(b.url, alter);
    const fresh = { ...options, store: undefined };
    const chain = randomx.follow([{ node: proxy.url }, { node: a.url }], fresh);
    await collect(
      chain,
      (event) =>
        event.type === "source" && event.source.index === 0 && event.source.state === state,
    );
    const { top_block_hash: top } = (await a.call("get_info")) as { top_block_hash: string };
    // The last proofs of work may be checked after the source is read to its end.
    await untilTip(chain, top);
    if (chain.sources[1]?.state !== "following") await untilSynced(chain);
    expect(chain.sources[1]?.state).toBe("following");
    expect(chain.tip?.id, state).toBe(top);
    await chain.close();
    proxy.close();
  }
}, 300_000);
