/** Daemons that are connected, parted, joined again and restarted while their chain is followed. */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { untilSynced, untilTip } from "../node/chain/support.js";
import { RandomX } from "../node/support.js";
import { Cleanup } from "./cleanup.js";
import { follow, type FollowRun } from "./cli.js";
import { Daemon } from "./daemon.js";
import { makeFolder, removeFolder } from "./leftovers.js";
import { LIES } from "./lies.js";
import { Proxy } from "./proxy.js";
import { startRelay } from "./relay.js";

/** The last common block, and the lengths of both sides. */
const COMMON = 10;
const SHORT = 5;
const LONG = 8;

const cleanup = new Cleanup();
let a: Daemon;
let b: Daemon;
let folder: string;
let randomx: Awaited<ReturnType<typeof RandomX.create>>;

beforeAll(async () => {
  randomx = await RandomX.create();
  cleanup.add(() => {
    randomx.dispose();
  });
  folder = await makeFolder("peers");
  cleanup.add(() => removeFolder(folder));
  a = await Daemon.start(1, "listening");
  cleanup.add(() => a.stop());
  b = await Daemon.start(1, a);
  cleanup.add(() => b.stop());
  await Promise.all([a.synchronize(), b.synchronize()]);
});

afterAll(() => cleanup.run());

const last = (ids: string[]): string => ids.at(-1) ?? "";

/** Returns the last tip of a run. */
function tip({ events }: FollowRun): string | undefined {
  const found = events.findLast(({ event }) => event === "tip" || event === "reorg");
  return found?.tip?.id ?? found?.id;
}

/** Follows both daemons with the command line. */
async function followBoth(): Promise<FollowRun> {
  const sources = ["--node", a.url, "--node", b.url, "--poll", "1"];
  const run = await follow(...sources, "--store", join(folder, "cli"));
  expect(run.code, run.stderr).toBe(0);
  return run;
}

const kinds = ({ events }: FollowRun): string[] => events.map(({ event }) => event);

test("both programs follow daemons that part, join again and restart", async () => {
  const options = { network: "regtest", fixedDifficulty: 1, poll: 1, timeout: 5000 } as const;
  const chain = randomx.follow([{ node: a.url }, { node: b.url }], options);
  const [relay, relayUrl] = await startRelay(b.url, join(folder, "relay"));
  try {
    const common = last(await a.generate(COMMON));
    await b.reach(common);
    await untilTip(chain, common);
    expect(tip(await followBoth())).toBe(common);

    await b.setPeers(0);
    const short = last(await a.generate(SHORT));
    await untilTip(chain, short);
    expect(tip(await followBoth())).toBe(short);
    const long = last(await b.generate(LONG));
    const overtaken = await untilTip(chain, long);
    expect(overtaken.map(({ type }) => type)).toContain("reorg");
    const parted = await followBoth();
    expect(kinds(parted)).toEqual(expect.arrayContaining(["reorg", "disagreement"]));
    expect(tip(parted)).toBe(long);

    await b.setPeers(8);
    await a.reach(long);
    const joined = await followBoth();
    expect(kinds(joined)).not.toContain("disagreement");
    expect(tip(joined)).toBe(long);

    // The relay and the follower go on with a daemon that was away.
    await b.restart();
    await b.synchronize();
    const next = last(await b.generate(2));
    await a.reach(next);
    await untilTip(chain, next);
    expect(tip(await followBoth())).toBe(next);
    await expect.poll(async () => tip(await follow("--relay", relayUrl)), POLL).toBe(next);
  } finally {
    relay.kill("SIGKILL");
    await chain.close();
  }
});

/** A relay asks its node every few seconds. */
const POLL = { timeout: 120_000, interval: 1000 };

describe("beside an honest node, one that sends", () => {
  test.each(LIES)("$name is of no consequence", async ({ alter }) => {
    const { height, top_block_hash: id } = (await a.call("get_info")) as {
      height: number;
      top_block_hash: string;
    };
    const proxy = await Proxy.before(b.url, alter(height - 4));
    try {
      const sources = ["--node", proxy.url, "--node", a.url, "--poll", "1"];
      const run = await follow(...sources, "--timeout", "1");
      expect(run.code, run.stderr).toBeLessThanOrEqual(1);
      expect(tip(run)).toBe(id);
      const chain = randomx.follow([{ node: proxy.url }, { node: a.url }], {
        ...{ network: "regtest", fixedDifficulty: 1, poll: 1, timeout: 1000 },
      });
      await untilTip(chain, id);
      await untilSynced(chain);
      expect(chain.sources[1]?.state).toBe("following");
      await chain.close();
    } finally {
      proxy.close();
    }
  });
});
