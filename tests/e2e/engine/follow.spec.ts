/** `RandomX.follow` in browsers, with a simulated source and a state in IndexedDB. */
import { chainOf, extended } from "../../node/chain/blocks.js";
import { SimulatedSource } from "../../node/chain/source.js";
import { expect, test } from "../browsers/test.js";
import type { Followed } from "../harness/follow.js";

const common = chainOf(8);

/** Follows, loads the page again, and follows on. */
const title = "a chain is followed, and continued after the page was loaded again";

test(title, { tag: "@chromium" }, async ({ harness }) => {
  const source = await SimulatedSource.start(extended(common, 4));
  try {
    const name = `follow-${Math.random()}`;
    const block = source.chain[5];
    const txid = block?.minerTransaction ?? "";
    const sources = [{ relay: source.url }, { node: source.url }];
    const follow = (): Promise<Followed> =>
      harness.call("followed", { sources, tip: source.tip.id, txid }, name);
    const first = await follow();
    expect(first).toMatchObject({
      first: 0,
      tip: { height: 12, id: source.tip.id, work: "13" },
      found: { height: 5, confirmations: 8 },
    });

    await harness.tab.reload();
    const asked = source.count("headers");
    const again = await follow();
    expect(again).toMatchObject({ first: 12, tip: first.tip });
    expect(source.count("headers")).toBe(asked);

    source.chain = extended(common, 6, { nonce: 1 });
    const replaced = await follow();
    expect(replaced.types).toContain("reorg");
    expect(replaced).toMatchObject({ first: 12, tip: { height: 14, id: source.tip.id } });
  } finally {
    await source.stop();
  }
});

test("a worker that is gone ends the following", { tag: "@chromium" }, async ({ harness }) => {
  const source = await SimulatedSource.start(common);
  try {
    const outcomes = await harness.call("lostFollower", [{ node: source.url }]);
    expect(outcomes).toEqual(["worker-failed", "disposed"]);
  } finally {
    await source.stop();
  }
});
