/** The view Follow about its sources and their chain: accusations, forks, progress, and announcements. */
import type { ServerResponse } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { expect, test, type Visit } from "../browsers/page.js";
import { chainOf, extended } from "../../node/chain/blocks.js";
import { SimulatedSources } from "../../node/chain/source.js";
import type { SourceStatus } from "../../../wasm/js/index.js";
import { after, initial } from "../../../web/views/follow/state.js";

const chain = '[data-part="chain"]';
const verdict = `${chain} .verdict`;
const tip = '[data-part="tip"]';

const sources = new SimulatedSources();

test.afterEach(() => sources.stop());

/**
 * Opens a stopped chain, or one that another tab follows. Returns a function that sends the page a state, as that tab
 * would.
 */
async function listen(view: Visit, isOn = false): Promise<(state: string) => Promise<void>> {
  const settings = `{ nodes: ["http://x"], relays: [], network: "regtest", last: 5, fixedDifficulty: "" }`;
  const memory = `"0".repeat(16)`;
  await view.leave();
  await view.of(
    "html",
    `{
      navigator.locks.request("randomx-follow", () => new Promise(() => {}));
      const kept = { settings: ${settings}, memory: ${memory}, isOn: ${isOn} };
      localStorage["randomx-follow"] = JSON.stringify(kept);
    }`,
  );
  await view.go("#/follow");
  await view.until(".follow-form");
  return async (state) =>
    view.of(
      "html",
      `{
        const state = {
          ...{ recent: [], isSynced: true, sources: [], forks: [] },
          ...{ accusations: [], lookups: [], warnings: {} },
          ...${state},
        };
        const chain = { settings: ${settings}, memory: ${memory} };
        const channel = new BroadcastChannel("randomx-follow");
        channel.postMessage({ type: "state", chain, state });
        channel.close();
      }`,
    );
}

/** A state in which the chain has grown to a height. */
function grown(height: number, more = ""): string {
  return `{
    tip: { height: ${height}, id: "1${height}".repeat(32), timestamp: 0, work: 1n },
    ${more}
  }`;
}

/** A lookup as a part of a state. */
function lookedUp(outcome: string): string {
  return `lookups: [{ txid: "22".repeat(32), ${outcome} }],`;
}

/** The accusation of a node. */
function accusation(url: string): string {
  return `{
    source: { index: 0, kind: "node", url: "${url}", state: "invalid" },
    evidence: new Uint8Array(9),
  }`;
}

test("each of eight accused sources has its newest evidence", { tag: "@chromium" }, () => {
  const accuse = (index: number, size: number, kind: SourceStatus["kind"] = "node") => ({
    type: "source" as const,
    source: { index, kind, url: `http://${index}/`, state: "invalid" as const },
    evidence: new Uint8Array(size),
  });
  let state = initial();
  for (const index of [0, 1, 2, 3, 4, 5, 6, 7]) state = after(state, accuse(index, 1), 0);
  expect(state.accusations.map(({ source }) => source.index)).toEqual([7, 6, 5, 4, 3, 2, 1, 0]);
  state = after(state, accuse(3, 2), 0);
  expect(state.accusations.map(({ source }) => source.index)).toEqual([3, 7, 6, 5, 4, 2, 1, 0]);
  expect(state.accusations[0]?.evidence).toHaveLength(2);
  // A node and a relay may have one address.
  state = after(after(initial(), accuse(0, 1), 0), accuse(0, 1, "relay"), 0);
  expect(state.accusations).toHaveLength(2);
});

test("new evidence replaces old, of the same number", { tag: "@chromium" }, async ({ view }) => {
  const tell = await listen(view);
  const accused = (url: string): string => `{ accusations: [${accusation(url)}] }`;
  await tell(accused("http://one/"));
  await view.says('[data-part="forks"]', /^This page no longer uses http:\/\/one\/:/u);
  await tell(accused("http://two/"));
  await view.says('[data-part="forks"]', /^This page no longer uses http:\/\/two\/:/u);
});

test("a lookup is read aloud when its words change", { tag: "@chromium" }, async ({ view }) => {
  const tell = await listen(view);
  const missing = lookedUp('state: "missing", why: "was not found."');
  await tell(grown(5, missing));
  await view.until('[data-lookup="missing"]');
  await view.of('[data-lookup="missing"]', "{ globalThis.first = it; }");
  await tell(grown(6, missing));
  await view.says(tip, /Newest block\s+6/u);
  expect(await view.of('[data-lookup="missing"]', "it === first")).toBe(true);

  // Confirmations grow with each block, and are not read aloud.
  expect(await view.count('[role="status"] [data-lookup]')).toBe(0);
  const status = '[role="status"][data-part="outcome"]';
  await view.says(status, /^Transaction 22222222 was not found\./u);
  const found = lookedUp('state: "found", height: 3');
  await tell(grown(7, found));
  await view.says('[data-lookup="found"]', /is in block 3: 5 confirmations\.$/u);
  await view.says(status, "Transaction 22222222 is in block 3");
  await view.of(status, "{ globalThis.first = it.firstChild; }");
  await tell(grown(8, found));
  await view.says('[data-lookup="found"]', /is in block 3: 6 confirmations\.$/u);
  expect(await view.of(status, "it.firstChild === first")).toBe(true);
  await tell(grown(9, "lookups: [],"));
  await view.until(`${status}:empty`);
});

test("buttons keep the focus while the chain grows", { tag: "@chromium" }, async ({ view }) => {
  const tell = await listen(view);
  await tell(grown(5, `accusations: [${accusation("http://one/")}],`));
  await view.says(tip, /Newest block\s+5/u);
  await view.of(`${tip} .copy`, "it.focus()");
  await tell(grown(6, `accusations: [${accusation("http://one/")}],`));
  await view.says(tip, /Newest block\s+6/u);
  expect(await view.hasFocus(`${tip} .copy`)).toBe(true);

  // The button stays the same one's, although another came above it.
  const forks = '[data-part="forks"]';
  await view.of(`${forks} button`, "it.focus()");
  const both = ["http://two/", "http://one/"].map(accusation).join();
  await tell(grown(6, `accusations: [${both}],`));
  await view.says(forks, /http:\/\/two\//u);
  expect(await view.hasFocus(`${forks} > :nth-child(2) button`)).toBe(true);

  // Nor if one is added below. If its entry goes, no other button gets the focus.
  const disagreement = `forks: [{
    ...{ kind: "disagreement", at: 0, source: "http://six/", common: { height: 5, id: "55" } },
    ...{ ours: { blocks: [], work: 1n }, theirs: { blocks: [], work: 1n } },
    evidence: new Uint8Array(9),
  }],`;
  await tell(grown(6, `accusations: [${both}], ${disagreement}`));
  await view.says(forks, /http:\/\/six\//u);
  expect(await view.hasFocus(`${forks} > :nth-child(2) button`)).toBe(true);
  await tell(grown(6, `accusations: [${accusation("http://two/")}], ${disagreement}`));
  await view.until(`${forks} > :nth-child(2):last-child`);
  expect(await view.hasFocus(`${forks} button`)).toBe(false);
  expect(await view.hasFocus(`${forks} > :nth-child(2) button`)).toBe(false);
});

test("a deep branch is described without a time", { tag: "@chromium" }, async ({ view }) => {
  const tell = await listen(view);
  await tell(`{ forks: [{
    ...{ kind: "deep-reorg", at: 0, source: "http://one/", common: { height: 5, id: "55" } },
    ours: { blocks: [{ height: 6, id: "66" }], work: 1n },
    theirs: { blocks: [], work: 2n },
  }] }`);
  const words = /which would revert 1 block, if all its proofs of work hold\. Reported 1970-01-01/u;
  await view.says('[data-kind="deep-reorg"] figcaption', words);
});

test("blocks that nothing replaces are dropped", { tag: "@chromium" }, async ({ view }) => {
  const tell = await listen(view);
  await tell(`{ forks: [{
    ...{ kind: "reorg", at: 0, common: { height: 5, id: "55" } },
    ours: { blocks: [{ height: 6, id: "66" }], work: 1n },
    theirs: { blocks: [], work: 0n },
  }] }`);
  const words = /^Reorganisation: 1 block after block 5 dropped: their hashes may miss corrected/u;
  await view.says('[data-kind="reorg"] figcaption', words);
});

test("a claim alone does not end the state synced", { tag: "@chromium" }, () => {
  const newest = { height: 12, id: "11".repeat(32), timestamp: 0, work: 1n };
  const synced = after(initial(), { type: "synced", tip: newest }, 0);
  const progress = { type: "progress" as const, read: 12, checked: 12, target: 6e8 };
  expect(after(initial(), progress, 0).isSynced).toBe(false);
  expect(after(synced, progress, 0).isSynced).toBe(true);
  expect(after(synced, { ...progress, read: 13 }, 0).isSynced).toBe(false);
});

test("the bar counts the blocks since it appeared", { tag: "@chromium" }, async ({ view }) => {
  const tell = await listen(view, true);
  const bar = `${chain} progress`;
  const reading = (read: number): string =>
    `{ isSynced: false, progress: { read: ${read}, checked: undefined, target: 3700000 } }`;
  const value = (): Promise<number> => view.of(bar, "it.value");
  await tell(reading(0));
  await tell(reading(3_690_000));
  await view.says(`${chain} [data-part="detail"]`, /^Headers read up to block 3,690,000 of/u);
  expect(await value()).toBe(0);
  await tell(reading(3_695_000));
  await expect.poll(value).toBe(0.5);
  await tell("{}");
  await view.until(`${chain} [data-part="progress"][hidden]`);
  await tell(reading(3_698_000));
  await expect.poll(value).toBe(0);
  await tell(reading(3_699_000));
  await expect.poll(value).toBe(0.5);
});

test("a chain whose end no source shows is not current", { tag: "@full" }, async ({ view }) => {
  const node = await sources.start(chainOf(12));
  await view.go(`#/follow?network=regtest&node=${encodeURIComponent(node.url)}`);
  await view.click(".follow-form [type=submit]");
  await view.says(verdict, "Checked up to the newest block: block 12.", 60_000);
  await view.until(`${chain}[data-state="valid"]`);
  const whole = node.chain;
  // A few blocks less are normal.
  node.chain = whole.slice(0, -6);
  await view.says(verdict, "No source has this page’s newest block; checked up to block 12.");
  await view.until(`${chain}[data-state="open"] [data-source="behind"]`);
  node.chain = extended(whole, 1);
  await view.says(verdict, "Checked up to the newest block: block 13.");
});

test(
  "a source whose chain parts before the trusted blocks raises a doubt",
  { tag: "@chromium" },
  async ({ view }) => {
    const common = chainOf(5);
    const first = await sources.start(extended(common, 12));
    const other = await sources.start(extended(common, 12, { nonce: 1 }));
    await view.go("#/follow?network=regtest&last=5");
    await view.fill("#follow-nodes", [first.url, other.url].join("\n"));
    await view.click(".follow-form [type=submit]");
    await view.says(verdict, /Checked up to the newest block: block 17\.$/u, 60_000);
    await view.until('[data-source="other-network"]');
    const doubt = `A source has another chain than ${first.url}, which was trusted at the first start.`;
    await expect.poll(() => view.text('[data-part="warnings"]')).toContain(doubt);
    // The newest blocks have no gap.
    const heights = "Array.from(it.children, ({ dataset }) => Number(dataset.height))";
    const recent = await view.of<number[]>(".follow-recent", heights);
    expect(recent).toEqual(recent.map((_, place) => 17 - place));
  },
);

test("an outcome that comes late replaces no newer search", { tag: "@full" }, async ({ view }) => {
  test.skip(view.browser.name === "webkit", "there, searches get their answers one at a time");
  const node = await sources.start(chainOf(12));
  const txids = node.chain.map(({ minerTransaction }) => minerTransaction);
  const lookUp = async (height: number): Promise<void> => {
    await view.fill("#follow-txid", txids[height] ?? "");
    await view.click('[data-part="find"] [type=submit]');
  };
  /** Looks up a transaction. The node does not find it, but answers only when the function is called that this returns. */
  const lookUpSlowly = async (height: number): Promise<() => Promise<void>> => {
    const held = new Promise<ServerResponse>((resolve) => {
      node.fault = ({ name }, response) => {
        if (name !== "get_transactions") return false;
        node.fault = undefined;
        resolve(response);
        return true;
      };
    });
    await lookUp(height);
    const response = await held;
    return async () => {
      response.end(JSON.stringify({ status: "OK", missed_tx: [txids[height]] }));
      // Long enough for what comes after the answer.
      await pause(500);
    };
  };
  const found = '[data-lookup="found"]';
  await view.go(`#/follow?network=regtest&node=${encodeURIComponent(node.url)}`);
  await view.click(".follow-form [type=submit]");
  await view.says(verdict, "Checked up to the newest block: block 12.", 60_000);

  const answerFirst = await lookUpSlowly(1);
  await lookUp(1);
  await view.until(found);
  await answerFirst();
  expect(await view.count(found)).toBe(1);

  // Only five are shown.
  const answerSecond = await lookUpSlowly(2);
  for (const height of [3, 4, 5, 6, 7]) await lookUp(height);
  await expect.poll(() => view.count(found)).toBe(5);
  await answerSecond();
  expect(await view.text('[data-part="lookups"]')).not.toContain(txids[2]);
  expect(await view.count(found)).toBe(5);
});
