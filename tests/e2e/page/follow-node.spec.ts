/** The view Follow with Monero's daemons: two nodes whose chains part. */
import { expect, test } from "../browsers/page.js";
import { minerTransaction, NO_DAEMON, withTwoDaemons } from "../daemons.js";
import { Gate } from "../gate.js";

const verdict = '[data-part="chain"] .verdict';

/** The last common block, and the blocks of a first start. */
const COMMON = 20;
const LAST = 10;

/** The block whose transaction is looked for. */
const FOUND = 15;

/** Daemons commit to disk, on a machine that may be busy. */
const STEP = 60_000;

function newest(height: number): RegExp {
  return new RegExp(`Checked up to the newest block: block ${height}\\.$`, "u");
}

test("two daemons part, and the longer chain wins", { tag: "@full" }, async ({ view }) => {
  test.skip(NO_DAEMON !== undefined, NO_DAEMON);
  test.setTimeout(300_000);
  await withTwoDaemons(COMMON, async (first, second) => {
    using gate = await Gate.before(second);
    await view.go("#/follow?network=regtest&fixed-difficulty=1");
    await view.says('[data-part="origin"]', await view.of<string>("html", "location.origin"));
    await view.fill("#follow-nodes", `${first.url.replace("http://", "")}\n${gate.url}`);
    await view.fill("#follow-last", String(LAST));
    await view.click(".follow-form [type=submit]");
    await view.says(verdict, newest(COMMON), STEP);
    await view.until('tr[data-source="following"] + tr[data-source="following"]', STEP);

    await view.fill("#follow-txid", await minerTransaction(first, FOUND));
    await view.click('[data-part="find"] [type=submit]');
    await view.says('[data-lookup="found"]', /is in block 15: 6 confirmations\.$/u, STEP);

    // The chain grows.
    await first.generate(2);
    await view.says(verdict, newest(COMMON + 2), STEP);
    await view.says('[data-lookup="found"]', /: 8 confirmations\.$/u);

    // The other node has more work on its side. The first one stays on its own. The page could take the other's
    // third block before the fourth.
    await gate.shutWhile(() => second.generate(4));
    const reorg = '[data-kind="reorg"]';
    await view.says(`${reorg} figcaption`, /2 blocks after block 20 replaced by 4/u, STEP);
    expect(await view.count(`${reorg} [data-side="ours"] li`)).toBe(2);
    expect(await view.count(`${reorg} [data-side="theirs"] li`)).toBe(4);
    await view.says(verdict, newest(COMMON + 4), STEP);
    const disagreement = `[data-kind="disagreement"][data-from="${first.url}/"]`;
    await view.says(`${disagreement} figcaption`, /disagrees from block 21 on/u, STEP);
    await view.until(`${disagreement} button`);

    // A reload and another tab go on with what is kept.
    await view.tab.reload();
    await view.says(verdict, newest(COMMON + 4), STEP);
    const other = await view.another("#/follow");
    await other.says(verdict, /^Another tab follows; this one listens\. Checked up to .* 24\.$/u);
    await second.generate(1);
    await other.says(verdict, /newest block: block 25\.$/u, STEP);
    await other.answer('[data-part="forget"]', true);
    await view.until('[data-part="chain"][hidden]');
    await other.until('[data-part="chain"][hidden]');
    const databases = "indexedDB.databases().then((all) => all.length)";
    await expect.poll(() => view.of("html", databases)).toBe(0);
  });
});
