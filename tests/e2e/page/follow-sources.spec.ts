/** What the view Follow says of its sources: accusations, and chains that end too early. */
import { expect, test, type Visit } from "../browsers/page.js";
import { chainOf, extended } from "../../node/chain/blocks.js";
import { SimulatedSources } from "../../node/chain/source.js";
import type { SourceStatus } from "../../../wasm/js/index.js";
import { after, initial } from "../../../web/views/follow/state.js";

const chain = '[data-part="chain"]';
const verdict = `${chain} .verdict`;

const sources = new SimulatedSources();

test.afterEach(() => sources.stop());

/** Opens a stopped chain. Returns a function that sends the page a state, as another tab would. */
async function listen(view: Visit): Promise<(state: string) => Promise<void>> {
  const settings = `{ nodes: ["http://x"], relays: [], network: "regtest", last: 5, fixedDifficulty: "" }`;
  const memory = `"0".repeat(16)`;
  await view.go("#/nothing");
  await view.until('[role="alert"]');
  await view.of(
    "html",
    `{ localStorage.follow = JSON.stringify({ settings: ${settings}, memory: ${memory} }); }`,
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
  const accused = (url: string): string => `{ accusations: [{
    source: { index: 0, kind: "node", url: "${url}", state: "invalid" },
    evidence: new Uint8Array(9),
  }] }`;
  await tell(accused("http://one/"));
  await view.says('[data-part="forks"]', /^This page no longer uses http:\/\/one\/:/u);
  await tell(accused("http://two/"));
  await view.says('[data-part="forks"]', /^This page no longer uses http:\/\/two\/:/u);
});

test("a lookup is read aloud when its words change", { tag: "@chromium" }, async ({ view }) => {
  const tell = await listen(view);
  const grown = (height: number): string => `{
    tip: { height: ${height}, id: "1${height}".repeat(32), timestamp: 0, work: 1n },
    lookups: [{ txid: "22".repeat(32), state: "missing" }],
  }`;
  await tell(grown(5));
  await view.until('[data-lookup="missing"]');
  await view.of('[data-lookup="missing"]', "{ globalThis.first = it; }");
  await tell(grown(6));
  await view.says('[data-part="tip"]', /Newest block\s+6/u);
  expect(await view.of('[data-lookup="missing"]', "it === first")).toBe(true);
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
