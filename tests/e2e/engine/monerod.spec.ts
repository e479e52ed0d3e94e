/** `RandomX.follow` in browsers, with Monero's daemons and a relay. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Daemon } from "../../regtest/daemon.js";
import { startRelay } from "../../regtest/relay.js";
import { expect, test } from "../browsers/test.js";

/** The last common block, and the lengths of both sides. */
const COMMON = 10;
const SHORT = 5;
const LONG = 8;

/** The block whose transaction is looked for. */
const FOUND = 7;

const title = "daemons whose chains part are followed";

test(title, { tag: "@full" }, async ({ harness }) => {
  test.skip(!process.env.MONEROD_PATH, "MONEROD_PATH does not name Monero's daemon");
  const folder = await mkdtemp(join(tmpdir(), "randomx-follow-"));
  const [a, b] = await Promise.all([Daemon.start(1), Daemon.start(1)]);
  const [relay, relayUrl] = await startRelay(a.url, folder);
  try {
    await a.generate(COMMON);
    await b.copy(a, 1, COMMON);
    const short = await a.generate(SHORT);
    const long = await b.generate(LONG);
    const { block_header: header } = (await a.call("get_block_header_by_height", {
      height: FOUND,
    })) as { block_header: { miner_tx_hash: string } };
    const chain = { fixedDifficulty: 1, txid: header.miner_tx_hash };
    const name = `monerod-${Math.random()}`;

    const first = { ...chain, sources: [{ node: a.url }, { relay: relayUrl }] };
    const alone = await harness.call("followed", { ...first, tip: short.at(-1) ?? "" }, name);
    expect(alone).toMatchObject({
      first: 0,
      tip: { height: COMMON + SHORT },
      found: { height: FOUND, confirmations: COMMON + SHORT + 1 - FOUND },
    });

    await harness.tab.reload();
    const both = { ...chain, sources: [{ node: a.url }, { node: b.url }] };
    const replaced = await harness.call("followed", { ...both, tip: long.at(-1) ?? "" }, name);
    expect(replaced.types).toContain("reorg");
    expect(replaced).toMatchObject({
      first: COMMON + SHORT,
      tip: { height: COMMON + LONG },
      found: { confirmations: COMMON + LONG + 1 - FOUND },
    });
  } finally {
    relay.kill("SIGKILL");
    await Promise.all([a.stop(), b.stop()]);
    await rm(folder, { recursive: true, force: true });
  }
});
