/** The view Follow: where it looks for a transaction, and what it says about one that it could not look for. */
import { expect, test, type Visit } from "../browsers/page.js";
import { chainOf } from "../../node/chain/blocks.js";
import { SimulatedSources } from "../../node/chain/source.js";
import { initial, searchedBlocks } from "../../../web/views/follow/state.js";

const verdict = '[data-part="chain"] .verdict';
const newest = /Checked up to the newest block: block 12\.$/u;

const sources = new SimulatedSources();

test.afterEach(() => sources.stop());

/** Follows a chain of 12 blocks, and looks up a transaction when it is read. */
async function lookUp(
  view: Visit,
  { nodes = "", relays = "", last = "5" },
  txid = "11".repeat(32),
  said = newest,
): Promise<void> {
  await view.go(`#/follow?network=regtest&last=${last}`);
  await view.fill("#follow-nodes", nodes);
  await view.fill("#follow-relays", relays);
  await view.click(".follow-form [type=submit]");
  await view.says(verdict, said, 60_000);
  await view.fill("#follow-txid", txid);
  await view.click('[data-part="find"] [type=submit]');
}

test(
  "a transaction before the page's beginning was not looked for there",
  { tag: "@chromium" },
  async ({ view }) => {
    const node = await sources.start(chainOf(12));
    await lookUp(view, { nodes: node.url }, node.chain[3]?.minerTransaction);
    await view.says(
      '[data-lookup="missing"]',
      /was not found: no node showed it in the blocks from 7 on, where this page began\.$/u,
    );
    await view.says(
      "#follow-txid-hint",
      /^64 hex digits\. Covers the blocks from 7 on, where this page began\. A node supplies/u,
    );
  },
);

test("only a node can show a transaction", { tag: "@chromium" }, async ({ view }) => {
  const relay = await sources.start(chainOf(12));
  await lookUp(view, { relays: relay.url });
  await view.says(
    '[data-lookup="failed"]',
    /could not be looked for: only a node can show a transaction, and no node is named\.$/u,
  );
});

test(
  "nodes that do not answer were not asked for a transaction",
  { tag: "@chromium" },
  async ({ view }) => {
    const node = await sources.start(chainOf(12));
    await lookUp(view, { nodes: node.url }, node.chain[11]?.minerTransaction);
    await view.until('[data-lookup="found"]');
    node.fault = (_, response) => {
      response.writeHead(500).end();
      return true;
    };
    await view.says(verdict, /^No source answers/u);
    await view.fill("#follow-txid", "11".repeat(32));
    await view.click('[data-part="find"] [type=submit]');
    await view.says(
      '[data-lookup="failed"]',
      /could not be looked for: no node answers with blocks of this chain\.$/u,
    );
  },
);

test("the blocks of three days are covered at most", { tag: "@chromium" }, () => {
  const beginning = { node: "http://node", height: 1000 };
  const at = (height: number): string =>
    searchedBlocks({
      ...{ ...initial(), beginning },
      tip: { height, id: "11".repeat(32), timestamp: 0, work: 1n },
    });
  expect(at(3160)).toBe("the blocks from 1,000 on, where this page began");
  expect(at(3161)).toBe("the checked blocks of the last three days");
});
