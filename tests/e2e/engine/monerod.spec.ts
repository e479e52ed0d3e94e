/** `RandomX.follow` in browsers, with Monero's daemons and a relay. */
import { end, makeFolder, removeFolder } from "../../regtest/leftovers.js";
import { startRelay } from "../../regtest/relay.js";
import { expect, test } from "../browsers/test.js";
import { minerTransaction, NO_DAEMON, withTwoDaemons } from "../daemons.js";

/** The last common block, and the lengths of both sides. */
const COMMON = 10;
const SHORT = 5;
const LONG = 8;

/** The block whose transaction is looked for. */
const FOUND = 7;

const title = "daemons whose chains part are followed";

test(title, { tag: "@full" }, async ({ harness }) => {
  test.skip(NO_DAEMON !== undefined, NO_DAEMON);
  await withTwoDaemons(COMMON, async (a, b) => {
    const folder = await makeFolder("follow");
    const [relay, relayUrl] = await startRelay(a.url, folder);
    try {
      const short = await a.generate(SHORT);
      const long = await b.generate(LONG);
      const chain = { fixedDifficulty: 1, txid: await minerTransaction(a, FOUND) };
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
      await end(relay);
      await removeFolder(folder);
    }
  });
});
