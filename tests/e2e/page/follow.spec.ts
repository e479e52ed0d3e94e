/** The view Follow with simulated sources: what it shows, keeps, and shares with other tabs. */
import { expect, test, type Visit } from "../browsers/page.js";
import { chainOf, extended } from "../../node/chain/blocks.js";
import { SimulatedSources } from "../../node/chain/source.js";
import { RandomXError } from "../../../wasm/js/index.js";
import { after, inherited, initial } from "../../../web/views/follow/state.js";

const verdict = '[data-part="chain"] .verdict';
const submit = ".follow-form [type=submit]";

const sources = new SimulatedSources();

test.afterEach(() => sources.stop());

async function follow(view: Visit, nodes: string[], relays: string[]): Promise<void> {
  await view.go("#/follow?network=regtest");
  await view.fill("#follow-nodes", nodes.join("\n"));
  await view.fill("#follow-relays", relays.join("\n"));
  await view.click(submit);
}

function newest(height: number): RegExp {
  return new RegExp(`Checked up to the newest block: block ${height}\\.$`, "u");
}

/** Looks up a transaction. */
async function lookUp(view: Visit, txid = ""): Promise<void> {
  await view.fill("#follow-txid", txid);
  await view.click('[data-part="find"] [type=submit]');
}

test(
  "a chain grows and forks, and two sources disagree side by side",
  { tag: "@chromium" },
  async ({ view }) => {
    const common = chainOf(10);
    const node = await sources.start(extended(common, 5));
    const relay = await sources.start(extended(common, 3, { nonce: 1 }));
    await follow(view, [node.url.replace("http://", "")], [relay.url]);
    await view.says(verdict, newest(15), 60_000);
    expect(await view.of(".follow-recent li", "it.dataset.height")).toBe("15");
    await view.says('[data-part="tip"]', new RegExp(node.tip.id, "u"));
    expect(await view.count('[data-source="following"], [data-source="behind"]')).toBe(2);

    const disagreement = `[data-kind="disagreement"][data-from="${relay.url}/"]`;
    await view.says(`${disagreement} figcaption`, /disagrees from block 11 on/u);
    expect(await view.count(`${disagreement} [data-side="ours"] li`)).toBe(5);
    expect(await view.count(`${disagreement} [data-side="theirs"] li`)).toBe(3);
    const saved = await view.saved(`${disagreement} button`);
    expect(saved.slice(0, 8)).toBe("RXMevid1");

    // The chain grows.
    node.chain = extended(node.chain, 2);
    await view.says(verdict, newest(17));

    // A transaction is looked up, and its confirmations follow the chain.
    await lookUp(view, node.chain[12]?.minerTransaction);
    await view.says('[data-lookup="found"]', /is in block 12: 6 confirmations\.$/u);

    // The relay has more work on its side: both sides are drawn. The node, on the other
    // side, cannot prove the transaction any more.
    relay.chain = extended(common, 9, { nonce: 1 });
    await view.says('[data-kind="reorg"] figcaption', /7 blocks after block 10 replaced by 9/u);
    await view.says(verdict, newest(19));
    expect(await view.count('[data-kind="reorg"] [data-side="ours"] .follow-block')).toBe(6);
    await view.until('[data-lookup="missing"]');
    await view.expectAccessible("follow");
  },
);

test("one tab follows, others listen, and a reload goes on", { tag: "@full" }, async ({ view }) => {
  const node = await sources.start(chainOf(12));
  await follow(view, [node.url], []);
  await view.says(verdict, newest(12), 60_000);
  await view.says('[data-part="tip"]', /Kept in this browser/u);

  const other = await view.another("#/follow");
  await other.says(verdict, /^Another tab follows; this one listens\. Checked up to .* block 12/u);
  expect(await other.of("#follow-nodes", "it.value")).toBe(node.url);
  await lookUp(other, node.chain[11]?.minerTransaction);
  await other.until('[data-lookup="found"]');
  const asked = node.count("get_block");
  await view.tab.reload();
  // The other tab goes on with what is kept, and reads no block again.
  await other.says(verdict, /^Checked up to the newest block: block 12\.$/u);
  await view.says(verdict, /^Another tab follows/u);
  expect(node.count("get_block")).toBe(asked);
  node.chain = extended(node.chain, 1);
  await other.says(verdict, newest(13));
  await other.says('[data-lookup="found"]', /: 3 confirmations\.$/u);
  await view.says(verdict, /newest block: block 13/u);

  // A chain that no source shows any more is not called current.
  const chain = '[data-part="chain"]';
  expect(await view.count(`${chain}[data-state="valid"]`)).toBe(1);
  node.fault = (_, response) => {
    response.writeHead(500).end();
    return true;
  };
  await view.says(verdict, /No source answers; checked up to block 13\.$/u);
  expect(await view.count(`${chain}[data-state="open"]`)).toBe(1);
  node.fault = undefined;
  await view.says(verdict, newest(13));

  // A tab that listens ends it for all.
  await view.click('[data-part="stop"]');
  await other.says(verdict, /^Stopped/u);
  await view.answer('[data-part="forget"]', true);
  await view.until('[data-part="chain"][hidden]');
  await other.until('[data-part="chain"][hidden]');
  const databases = (): Promise<number> =>
    view.of("html", `indexedDB.databases().then((all) => all.length)`);
  await expect.poll(databases).toBe(0);
});

test("a chain that was forgotten is read anew at once", { tag: "@full" }, async ({ view }) => {
  const node = await sources.start(chainOf(12));
  await follow(view, [node.url], []);
  await view.says(verdict, newest(12), 60_000);
  const other = await view.another("#/follow");
  await other.says(verdict, newest(12));
  const listens = (tab: Visit): Promise<boolean> =>
    tab.of(verdict, `it.textContent.startsWith("Another tab follows")`);
  const tabs = [view, other];
  for (const tab of tabs) {
    const asked = node.count("get_block");
    await tab.of(
      submit,
      `{
        globalThis.confirm = () => true;
        document.querySelector('[data-part="forget"]').click();
        it.click();
      }`,
    );
    await expect.poll(() => node.count("get_block"), { timeout: 60_000 }).toBe(asked + 12);
    for (const each of tabs) {
      // Forget hides the old chain, whose text stays in the page until a new one replaces it.
      await each.says('[data-part="chain"]:not([hidden]) .verdict', newest(12));
      await each.says(
        '[data-part="chain"]:not([hidden]) [data-part="tip"]',
        /Kept in this browser/u,
      );
    }
    // Either of them follows.
    await expect.poll(async () => (await listens(view)) !== (await listens(other))).toBe(true);
  }

  // Nothing removes the new chain when the tab ends that reads it.
  const asked = node.count("get_block");
  const [follows, remains] = (await listens(view)) ? [other, view] : [view, other];
  await follows.go("#/verify");
  await remains.says(verdict, /^Checked up to the newest block: block 12\.$/u);
  const polls = node.count("get_info");
  await expect.poll(() => node.count("get_info")).toBeGreaterThan(polls + 2);
  expect(node.count("get_block")).toBe(asked);
  const databases = remains.of("html", "indexedDB.databases().then((all) => all.length)");
  expect(await databases).toBe(1);
});

test(
  "a first start shows what it trusts, and a search waits for the chain",
  { tag: "@full" },
  async ({ view }) => {
    const node = await sources.start(chainOf(12));
    const tip = '[data-part="tip"]';
    await view.go("#/follow?network=regtest&last=5");
    // The first node does not answer.
    await view.fill("#follow-nodes", `127.0.0.1:9\n${node.url}`);
    await view.click(submit);
    await view.says(verdict, newest(12), 60_000);
    await view.says(tip, new RegExp(`${node.url}, about the blocks up to 7$`, "mu"));

    // A search that is stopped goes on with the next start.
    node.fault = ({ name }) => name === "get_transactions";
    await lookUp(view, node.chain[10]?.minerTransaction);
    await view.says('[data-lookup="searching"]', /is being looked for…$/u);
    await view.click('[data-part="stop"]');
    await view.says('[data-lookup="searching"]', /will be looked up when you press Follow\.$/u);
    await view.until('[data-part="find"] [type=submit][aria-disabled="true"]');
    node.fault = undefined;
    await view.click(submit);
    await lookUp(view, node.chain[11]?.minerTransaction);
    await view.says('[data-lookup="found"]', /is in block 11: 2 confirmations\.$/u);
    await view.says('[data-lookup="found"] + li', /is in block 10: 3 confirmations\.$/u);
    await view.says(tip, /about the blocks up to 7$/mu);

    // Without trust the chain begins at the genesis block.
    await view.fill("#follow-last", "0");
    await view.click(submit);
    await view.says(tip, /Trusted at the first start\s+no source/u, 60_000);
    await view.says(verdict, newest(12));
    const databases = (): Promise<number> =>
      view.of("html", "indexedDB.databases().then((all) => all.length)");
    expect(await databases()).toBe(2);
    // Forget asks first.
    const forget = '[data-part="forget"]';
    expect(await view.answer(forget, false)).toBe("Forget all chains and settings?");
    await view.says(verdict, newest(12));
    expect(await databases()).toBe(2);
    await view.answer(forget, true);
    await expect.poll(databases).toBe(0);
  },
);

test("a search that a newer one replaces is given up", { tag: "@chromium" }, async ({ view }) => {
  const node = await sources.start(chainOf(12));
  let isGivenUp = false;
  node.fault = ({ name }, response) => {
    if (name !== "get_transactions") return false;
    response.on("close", () => (isGivenUp = true));
    node.fault = undefined;
    return true;
  };
  await follow(view, [node.url], []);
  await view.says(verdict, newest(12), 60_000);
  await lookUp(view, node.chain[11]?.minerTransaction);
  await expect.poll(() => node.count("get_transactions")).toBe(1);
  await lookUp(view, node.chain[11]?.minerTransaction);
  await view.says('[data-lookup="found"]', /is in block 11: 2 confirmations\.$/u);
  // Sooner than its time is over, which is 30 seconds.
  await expect.poll(() => isGivenUp, { timeout: 10_000 }).toBe(true);
});

test("fields and sources report what is wrong", { tag: "@chromium" }, async ({ view }) => {
  await view.go("#/follow?network=regtest");
  await view.click(submit);
  await view.says("#follow-nodes-error", "Nodes: expected at least one node or relay.");
  await view.fill("#follow-nodes", "127.0.0.1 ".repeat(9));
  await view.click(submit);
  await view.says("#follow-nodes-error", "Nodes: expected at most 8 nodes and relays, got 9.");
  await view.fill("#follow-nodes", "");
  await view.fill("#follow-relays", "127.0.0.1 ".repeat(9));
  await view.click(submit);
  await view.says("#follow-relays-error", "Relays: expected at most 8 nodes and relays, got 9.");
  expect(await view.hasFocus("#follow-relays")).toBe(true);
  await view.fill("#follow-relays", "");
  for (const [address, words] of [
    ["ftp://node", "http: or https:, got “ftp://node”"],
    ["http://a:b", "an address such as http://127.0.0.1:18081, got “http://a:b”"],
    ["user:secret@node", "an address without a login, got one in “node”"],
    ["http://user:secret@a:b", "an address such as http://127.0.0.1:18081, got “http://a:b”"],
  ] as const) {
    await view.fill("#follow-nodes", `127.0.0.1\n${address}\nnode.example`);
    await view.click(submit);
    await view.says("#follow-nodes-error", `Nodes: expected ${words}.`);
  }
  expect(await view.hasFocus("#follow-nodes")).toBe(true);
  await view.fill("#follow-nodes", "127.0.0.1:9");
  await view.click(submit);
  await view.says(
    '#follow-nodes-error[role="alert"]',
    /\(node-unreachable: http:\/\/127\.0\.0\.1:9: /u,
  );
  await view.fill("#follow-nodes", "");
  await view.fill("#follow-relays", "127.0.0.1:9");
  await view.click(submit);
  await view.says(verdict, /No proof of work is checked yet|No source answers/u);
  expect(await view.text("#follow-relays-error")).toBe("");
  await view.says('[data-part="origin"]', /^http:\/\/127\.0\.0\.1:\d+$/u);
});

test("a chain begins at no node of another network", { tag: "@chromium" }, async ({ view }) => {
  const node = await sources.start(chainOf(12));
  await view.go(`#/follow?last=5&node=${encodeURIComponent(node.url)}`);
  await view.click(submit);
  const words = `(node-invalid: ${node.url}: its network is regtest)`;
  await expect.poll(() => view.text("#follow-nodes-error")).toContain(words);
});

test("nothing of one chain is shown for another", { tag: "@full" }, async ({ view }) => {
  const node = await sources.start(chainOf(12));
  await follow(view, [node.url], []);
  await view.says(verdict, newest(12), 60_000);
  const silent = await sources.start([]);
  silent.fault = () => true;
  // A link does not replace the chain that is followed, and the page says so.
  const kept = '[data-part="kept"]';
  await view.says(kept, /^This browser keeps the chains and these settings\./u);
  const other = await view.another(`#/follow?node=${encodeURIComponent(silent.url)}`);
  await other.says(verdict, newest(12));
  expect(await other.of("#follow-nodes", "it.value")).toBe(silent.url);
  const words = `This page still follows ${node.url}. Press Follow to change to the settings above.`;
  await other.says(kept, words);
  await view.fill("#follow-nodes", silent.url);
  await view.of("#follow-network", 'it.value = "mainnet"');
  await view.click(submit);
  await expect.poll(() => silent.asked.length).toBeGreaterThan(0);
  for (const tab of [view, other]) {
    await tab.says(verdict, /No proof of work is checked yet…$/u);
    expect(await tab.count('[data-part="chain"][data-state="open"]')).toBe(1);
    expect(await tab.text('[data-part="sources"]')).not.toContain(node.url);
    await tab.says(kept, /^This browser keeps the chains and these settings\./u);
  }
});

test("an alarm ends with its reason, whichever tab follows", { tag: "@full" }, async ({ view }) => {
  const warnings = '[data-part="warnings"]';
  const node = await sources.start(chainOf(12));
  await follow(view, [node.url], []);
  await view.says(verdict, newest(12), 60_000);
  await view.says(warnings, /^The newest block is [\d,]+ days old\./u);
  const other = await view.another("#/follow");
  await other.says(warnings, /^The newest block is/u);
  // The next client never sees the old block as the newest one.
  node.chain = extended(node.chain, 1, { start: Math.floor(Date.now() / 1000) - 60 });
  await view.go("#/nothing");
  await other.says(verdict, /^Checked up to the newest block: block 13\.$/u);
  await other.says(warnings, "");

  // The store fails for a while, and the database that it is in.
  let height = 13;
  for (const [owner, method] of [
    ["IDBObjectStore", "put"],
    ["IDBFactory", "open"],
  ]) {
    await other.of(
      "html",
      `{
        const { ${method}: original } = ${owner}.prototype;
        globalThis.isFull = true;
        ${owner}.prototype.${method} = function (...args) {
          if (isFull) throw new DOMException("full", "QuotaExceededError");
          return original.apply(this, args);
        };
      }`,
    );
    node.chain = extended(node.chain, 1);
    await other.says(warnings, /^The chain could not be kept: .*full/u);
    await other.says(verdict, newest((height += 1)));
    await other.of("html", "globalThis.isFull = false");
    node.chain = extended(node.chain, 1);
    await other.says(verdict, newest((height += 1)));
    await other.says(warnings, "");
  }
});

test(
  "a chain that was not kept looks for its transactions again",
  { tag: "@full" },
  async ({ view }) => {
    const common = chainOf(10);
    const node = await sources.start(extended(common, 3));
    await view.go("#/follow?network=regtest");
    await view.until(submit);
    const blocked = `throw new DOMException("blocked", "SecurityError")`;
    await view.of("html", `{ IDBFactory.prototype.open = () => { ${blocked}; }; }`);
    await view.fill("#follow-nodes", node.url);
    await view.click(submit);
    await view.says(verdict, newest(13), 60_000);
    await lookUp(view, node.chain[12]?.minerTransaction);
    await view.says('[data-lookup="found"]', /is in block 12: 2 confirmations\.$/u);
    await view.click('[data-part="stop"]');
    await view.says(verdict, /^Stopped/u);
    // The next client does not know the blocks that are lost, and reports no reorganisation.
    node.chain = common;
    await view.click(submit);
    await view.says(verdict, newest(10), 60_000);
    await view.until('[data-lookup="missing"]');
  },
);

test("the failure of a hash is shown until a block is checked", { tag: "@chromium" }, () => {
  const error = new RandomXError("out-of-memory", "no memory");
  const failed = after(initial(), { type: "failure", part: "hash", error }, 0);
  const full = after(failed, { type: "failure", part: "store", error }, 0);
  expect(Object.values(full.warnings)).toEqual([
    "A hash could not be computed: no memory.",
    "The chain could not be kept: no memory.",
  ]);
  const tip = { height: 1, id: "11".repeat(32), timestamp: 0, work: 1n };
  const checked = after(full, { type: "tip", tip }, 0);
  expect(Object.values(checked.warnings).filter(Boolean)).toEqual([
    "The chain could not be kept: no memory.",
  ]);
  expect(inherited(checked).warnings).toEqual({});
});
