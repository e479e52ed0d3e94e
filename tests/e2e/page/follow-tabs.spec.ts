/** The view Follow in several tabs, and in a browser that keeps them apart. */
import { expect, test } from "../browsers/page.js";
import { chainOf } from "../../node/chain/blocks.js";
import { SimulatedSources } from "../../node/chain/source.js";

const verdict = '[data-part="chain"] .verdict';
const submit = ".follow-form [type=submit]";

const sources = new SimulatedSources();

test.afterEach(() => sources.stop());

function newest(height: number): RegExp {
  return new RegExp(`Checked up to the newest block: block ${height}\\.$`, "u");
}

test("a tab that cannot follow ends it for all", { tag: "@full" }, async ({ view }) => {
  const node = await sources.start(chainOf(12));
  await view.go("#/follow?network=regtest");
  const other = await view.another("#/follow?network=regtest");
  // Either tab may be the one that follows.
  const tabs = [view, other];
  for (const tab of tabs) {
    await tab.until(submit);
    await tab.of(
      "html",
      "[globalThis.kept, globalThis.Worker] = [Worker, class { constructor() { throw new Error(); } }]",
    );
  }
  await view.fill("#follow-nodes", node.url);
  await view.click(submit);
  const isOn = (): Promise<boolean> =>
    view.of("html", 'JSON.parse(localStorage["randomx-follow"]).isOn');
  for (const tab of tabs) {
    await tab.says("#follow-nodes-error", /\(worker-failed: /u);
    await tab.says(verdict, /^Stopped/u);
  }
  expect(await isOn()).toBe(false);
  for (const tab of tabs) await tab.of("html", "globalThis.Worker = kept");
  await other.fill("#follow-nodes", node.url);
  await other.click(submit);
  for (const tab of tabs) {
    await tab.says(verdict, newest(12), 60_000);
    await tab.says("#follow-nodes-error", "");
  }
  expect(await isOn()).toBe(true);
});

test(
  "a browser that blocks the site's data follows, and keeps nothing",
  { tag: "@full" },
  async ({ view }) => {
    const node = await sources.start(chainOf(12));
    await view.leave();
    await view.of(
      "html",
      `{
        const refusal = new DOMException("blocked", "SecurityError");
        const fail = () => { throw refusal; };
        LockManager.prototype.request = () => Promise.reject(refusal);
        IDBFactory.prototype.databases = () => Promise.reject(refusal);
        IDBFactory.prototype.open = fail;
        Storage.prototype.setItem = fail;
        globalThis.BroadcastChannel = class { constructor() { fail(); } };
      }`,
    );
    await view.go("#/follow?network=regtest");
    await view.fill("#follow-nodes", node.url);
    await view.click(submit);
    await view.says(verdict, newest(12), 60_000);
    await view.says('[data-part="kept"]', /^This browser does not let the page keep anything\./u);
    await view.says('[data-part="warnings"]', /^The chain could not be kept: /u);
    await view.answer('[data-part="forget"]', true);
    await view.until('[data-part="chain"][hidden]');
    expect(await view.text("#follow-nodes-error")).toBe("");
  },
);

test("a stop does not wait for the workers", { tag: "@chromium" }, async ({ view }) => {
  const node = await sources.start(chainOf(3));
  await view.leave();
  await view.of(
    "html",
    "{ globalThis.Worker = class extends EventTarget { postMessage() {} terminate() {} }; }",
  );
  const isHeld = (): Promise<boolean> =>
    view.of(
      "html",
      `navigator.locks.query().then(({ held }) => held.some(({ name }) => name === "randomx-follow"))`,
    );
  await view.go("#/follow?network=regtest&last=0");
  await view.fill("#follow-nodes", node.url);
  await view.click(submit);
  await expect.poll(isHeld).toBe(true);
  await view.click('[data-part="stop"]');
  await expect.poll(isHeld).toBe(false);
});

test("the databases of other programs stay", { tag: "@chromium" }, async ({ view }) => {
  const own = `randomx-mainnet-last-100-${"0".repeat(16)}`;
  const others = ["randomx-chain", "randomx-mainnet-wallet", `randomx-testnet-${"0".repeat(16)}`];
  const names = (): Promise<string[]> =>
    view.of("html", "indexedDB.databases().then((all) => all.map(({ name }) => name).sort())");
  await view.leave();
  await view.of(
    "html",
    `Promise.all(${JSON.stringify([own, ...others])}.map((name) => new Promise((resolve) => {
      indexedDB.open(name).onsuccess = ({ target }) => {
        target.result.close();
        resolve();
      };
    })))`,
  );
  expect(await names()).toHaveLength(4);
  await view.go("#/follow");
  // The chain of an earlier visit, which was forgotten.
  await expect.poll(names).toEqual(others);
});

test(
  "a browser that does not list its databases forgets the chains too",
  { tag: "@chromium" },
  async ({ view }) => {
    const node = await sources.start(chainOf(12));
    const names = (): Promise<string[]> =>
      view.of("html", "databases.call(indexedDB).then((all) => all.map(({ name }) => name))");
    await view.leave();
    // As in Firefox before version 126.
    await view.of(
      "html",
      "{ globalThis.databases = IDBFactory.prototype.databases; delete IDBFactory.prototype.databases; }",
    );
    await view.go("#/follow?network=regtest");
    await view.fill("#follow-nodes", node.url);
    for (const last of ["5", "0"]) {
      await view.fill("#follow-last", last);
      await view.click(submit);
      const trusted = last === "0" ? /no source$/mu : /up to 7$/mu;
      await view.says('[data-part="tip"]', trusted, 60_000);
      await view.says('[data-part="tip"]', /Kept in this browser/u);
    }
    await expect.poll(names).toHaveLength(2);
    await view.answer('[data-part="forget"]', true);
    await expect.poll(names).toEqual([]);
    expect(await view.text("#follow-nodes-error")).toBe("");
    expect(await view.of("html", "localStorage.length")).toBe(0);
  },
);

test("one tab alone does not say that another follows", { tag: "@chromium" }, async ({ view }) => {
  const node = await sources.start(chainOf(3));
  await view.leave();
  await view.of(
    "main",
    `{
      globalThis.said = new Set();
      const add = () => said.add(it.querySelector('${verdict}')?.textContent);
      new MutationObserver(add).observe(it, { childList: true, subtree: true });
    }`,
  );
  await view.go("#/follow?network=regtest");
  await view.fill("#follow-nodes", node.url);
  await view.click(submit);
  await view.says(verdict, newest(3), 60_000);
  const said = await view.of<string[]>("html", "[...said]");
  expect(said).toContain("No proof of work is checked yet…");
  expect(said.join("\n")).not.toContain("Another tab");
});
