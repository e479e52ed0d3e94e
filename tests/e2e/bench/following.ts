/** Times following a long chain from a relay in a browser. */
import { LongChain, timesOf, type FollowTimes } from "../../node/long-chain.mjs";
import type { Browser } from "../browsers/browser.js";
import { openHarness } from "../browsers/test.js";

/** Follows in one tab, with the states in its database. */
export async function measureFollowing(browser: Browser): Promise<FollowTimes> {
  const chain = await LongChain.start();
  const harness = await openHarness(browser);
  try {
    return await timesOf(chain, (store, sample) => {
      const options = { network: "regtest", anchor: chain.anchor, sample } as const;
      return harness.call("followTime", chain.url, options, chain.height, `bench-${store}`);
    });
  } finally {
    await harness.tab.close();
    chain.stop();
  }
}
