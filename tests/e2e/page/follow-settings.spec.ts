/** The settings of the view Follow: what links and the browser's storage may choose, and what the page shows of it. */
import { expect, test, type Visit } from "../browsers/page.js";
import { chainOf, extended } from "../../node/chain/blocks.js";
import { SimulatedSources } from "../../node/chain/source.js";
import { completed } from "../../../web/shell/url.js";

const verdict = '[data-part="chain"] .verdict';
const submit = ".follow-form [type=submit]";
const difficulty = "#follow-difficulty";
const tip = '[data-part="tip"]';

const sources = new SimulatedSources();

test.afterEach(() => sources.stop());

/** Changes a byte of what the browser keeps of the only chain. */
async function damage(view: Visit, at: string): Promise<void> {
  // The client saves once more when it ends.
  const isHeld = `navigator.locks.query().then(({ held }) => held.some(({ name }) => name === "randomx-follow"))`;
  await expect.poll(() => view.of("html", isHeld)).toBe(false);
  await view.of(
    "html",
    `indexedDB.databases().then(([{ name }]) => new Promise((resolve) => {
      const opening = indexedDB.open(name);
      opening.onsuccess = () => {
        const transaction = opening.result.transaction("states", "readwrite");
        const states = transaction.objectStore("states");
        const kept = states.get("chain");
        kept.onsuccess = () => {
          const bytes = kept.result;
          bytes[${at}] ^= 1;
          states.put(bytes, "chain");
        };
        transaction.oncomplete = () => {
          opening.result.close();
          resolve();
        };
      };
    }))`,
  );
}

test(
  "a link fixes the difficulty on regtest only, and its choices are seen",
  { tag: "@chromium" },
  async ({ view }) => {
    const open = ".settings[open]";
    await view.go("#/follow?node=ftp://y&node=x&fixed-difficulty=1&last=");
    await view.until(submit);
    expect(await view.of("#follow-nodes", "it.value")).toBe("http://x");
    // No other view has brought its styles.
    expect(await view.of(".settings > summary", "getComputedStyle(it).fontWeight")).toBe("600");
    expect(await view.of(difficulty, "it.value")).toBe("");
    expect(await view.of("#follow-last", "it.value")).toBe("100");
    expect(await view.count(open)).toBe(0);
    await view.go("#/follow?node=x&network=regtest&fixed-difficulty=1");
    await view.until(open);
    expect(await view.of(difficulty, "it.value")).toBe("1");
    for (const choice of ["last=5", "network=stagenet"]) {
      await view.go("#/nothing");
      await view.go(`#/follow?node=x&${choice}`);
      await view.until(open);
    }

    // The form refuses the same.
    await view.fill(difficulty, "1");
    await view.click(submit);
    await view.says(`${difficulty}-error`, "Fixed difficulty: expected the network regtest.");
    expect(await view.hasFocus(difficulty)).toBe(true);
    await view.of("#follow-network", 'it.value = "regtest"');
    await view.fill(difficulty, (1n << 128n).toString());
    await view.click(submit);
    await view.says(`${difficulty}-error`, "Fixed difficulty: expected less than 2^128.");

    // So does a browser that keeps the pair.
    const settings = { nodes: ["http://x"], relays: [], network: "mainnet", last: 100 };
    const kept = { settings: { ...settings, fixedDifficulty: "1" }, memory: "0".repeat(16) };
    await view.of(
      "html",
      `{ localStorage["randomx-follow"] = ${JSON.stringify(JSON.stringify(kept))}; }`,
    );
    await view.go("#/nothing");
    await view.go("#/follow");
    await view.until(submit);
    expect(await view.of("#follow-nodes", "it.value")).toBe("http://x");
    expect(await view.of(difficulty, "it.value")).toBe("");
  },
);

test("hosts of private networks need no certificate", { tag: "@chromium" }, () => {
  Object.assign(globalThis, { location: { protocol: "https:" } });
  try {
    const own = [
      "localhost",
      "127.0.0.1",
      "10.1.2.3",
      "172.16.0.1",
      "172.31.0.1:1",
      "192.168.0.1/x",
    ];
    expect(own.map(completed)).toEqual(own.map((host) => `http://${host}`));
    const others = ["172.15.0.1", "172.32.0.1", "172.160.0.1", "192.169.0.1", "node.example"];
    expect(others.map(completed)).toEqual(others.map((host) => `https://${host}`));
  } finally {
    Reflect.deleteProperty(globalThis, "location");
  }
});

test("the chain's facts name its network", { tag: "@full" }, async ({ view }) => {
  const node = await sources.start(chainOf(12));
  const query = new URLSearchParams({ node: node.url, network: "regtest" });
  await view.go(`#/follow?${query.toString()}&fixed-difficulty=1`);
  await view.click(submit);
  await view.says(tip, /Network\s+regtest\s+Fixed difficulty\s+1\s+Newest block\s+12/u, 60_000);
});

test("a kept chain that cannot be read begins anew", { tag: "@full" }, async ({ view }) => {
  const node = await sources.start(chainOf(12));
  await view.go("#/follow?network=regtest&last=5");
  await view.fill("#follow-nodes", node.url);
  let height = 12;
  // The beginning, then the state of the client.
  for (const at of ["0", "bytes.indexOf(10) + 1"]) {
    await view.click(submit);
    await view.says(verdict, new RegExp(`newest block: block ${height}\\.$`, "u"), 60_000);
    await view.says(tip, new RegExp(`about the blocks up to ${height - 5}$`, "mu"));
    await view.says(tip, /Kept in this browser/u);
    await view.click('[data-part="stop"]');
    await view.says('[data-part="kept"]', /these settings\. Press Follow to go on\.$/u);
    await damage(view, at);
    node.chain = extended(node.chain, 3);
    height += 3;
    await view.click(submit);
    const words = /The kept chain could not be read; it begins anew\./u;
    await view.says('[data-part="warnings"]', words, 60_000);
    await view.says(verdict, new RegExp(`newest block: block ${height}\\.$`, "u"), 60_000);
    await view.says(tip, new RegExp(`about the blocks up to ${height - 5}$`, "mu"));
    await view.says('[data-part="warnings"]', words);
    await view.says(
      '[data-part="kept"]',
      /these settings\. After a reload, following continues\.$/u,
    );
  }
});
