/** A daemon that follows the difficulty rule: its difficulties, and lies that cost no work. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { RandomX } from "../node/support.js";
import { Cleanup } from "./cleanup.js";
import { failedChecks, hex, verifyBlocks } from "./package.js";
import { failed, verify } from "./cli.js";
import { Daemon } from "./daemon.js";
import { idOf } from "./lies.js";
import { meets, mine, withNonce, withTime, type Mined } from "./mine.js";
import { Proxy, type Alter } from "./proxy.js";

/** Blocks come faster than every two minutes, so difficulties grow from 1 to 12. */
const BLOCKS = 90;
const PACE = 85;
const START = 1_700_000_000;

/** Enough to bring timestamps out of order, which the rule sorts. */
const JITTER = [0, 60, -50, 20, -110, 30];

const LIED = 85;

const cleanup = new Cleanup();
let daemon: Daemon;
let mined: Mined[];
let randomx: Awaited<ReturnType<typeof RandomX.create>>;

beforeAll(async () => {
  randomx = await RandomX.create();
  cleanup.add(() => {
    randomx.dispose();
  });
  daemon = await Daemon.start();
  cleanup.add(() => daemon.stop());
  const time = (index: number): number => START + PACE * index + (JITTER[index % 6] ?? 0);
  mined = await mine(
    daemon,
    Array.from({ length: BLOCKS }, (_, index) => time(index)),
  );
});

afterAll(() => cleanup.run());

/** Returns the block that the node lies about. */
function victim(): Mined {
  const found = mined.find(({ height }) => height === LIED);
  if (!found) throw new Error(`no block at height ${LIED} was mined`);
  return found;
}

/** Replaces the block by a forged one with a matching id. */
function forge(change: (blob: Buffer) => Buffer): Alter {
  const { block, hashingBlob } = victim();
  return (result, { method, params }) => {
    if (method === "get_block" && params.height === LIED) {
      result.blob = change(block).toString("hex");
      result.block_header.hash = idOf(change(hashingBlob));
    }
    return undefined;
  };
}

/** Finds a nonce whose hash does not meet the difficulty. */
async function poorNonce(): Promise<number> {
  const { hashingBlob, seedHash, difficulty } = victim();
  const blobs = Array.from({ length: 8 }, (_, nonce) => withNonce(hashingBlob, 1_000_000 + nonce));
  const hashes = await randomx.hashMany(seedHash, blobs);
  return 1_000_000 + hashes.findIndex((hash) => !meets(hash, difficulty));
}

/** Verifies the last blocks of a daemon whose answers are altered, with the command line and with the package. */
async function verifyBehind(alter: Alter) {
  const proxy = await Proxy.before(daemon.url, alter);
  const run = await verify(proxy.url, "--from", "75");
  const other = await verifyBlocks(randomx, proxy.url, [75, BLOCKS]);
  proxy.close();
  return { run, other };
}

test("the command line computes the daemon's difficulties", async () => {
  const difficulties = mined.map(({ difficulty }) => Number(difficulty));
  expect(Math.max(...difficulties)).toBeGreaterThan(8);
  const run = await verify(daemon.url, "--from", "1");
  expect(run.code, run.stderr).toBe(0);
  expect(run.verdicts.map(({ hash }) => hash)).toEqual(mined.map(({ hash }) => hex(hash)));
});

test("the package does, too, and continues from a saved checkpoint", async () => {
  const first = await verifyBlocks(randomx, daemon.url, [1, 70]);
  expect(first.verdicts.filter(({ valid }) => valid)).toHaveLength(70);
  const checkpoint = JSON.parse(JSON.stringify(first.checkpoint)) as typeof first.checkpoint;
  const rest = await verifyBlocks(randomx, daemon.url, [71, BLOCKS], { checkpoint });
  expect(rest.verdicts.filter(({ valid }) => valid)).toHaveLength(BLOCKS - 70);
  const hashes = [...first.verdicts, ...rest.verdicts].map(({ hash }) => hex(hash));
  expect(hashes).toEqual(mined.map(({ hash }) => hex(hash)));
  const difficulties = rest.checkpoint?.recent.slice(1).map(({ difficulty }) => BigInt(difficulty));
  expect(difficulties).toEqual(mined.map(({ difficulty }) => difficulty));
});

describe("a node that sends", () => {
  test.each<[string, () => Alter | Promise<Alter>, string[]]>([
    [
      "a nonce without work, with a matching id",
      async () => {
        const nonce = await poorNonce();
        return forge((blob) => withNonce(blob, nonce));
      },
      ["proof-of-work"],
    ],
    [
      "a timestamp before the median",
      () => forge((blob) => withTime(blob, START)),
      ["timestamp-median"],
    ],
    [
      "a lowered difficulty",
      () =>
        (result, { method, params }) => {
          if (method === "get_block" && params.height === LIED) {
            result.block_header.wide_difficulty = "0x1";
          }
          return undefined;
        },
      ["difficulty"],
    ],
  ])("%s", async (_, alter, checks) => {
    const { run, other } = await verifyBehind(await alter());
    expect(run.code, run.stderr).toBe(1);
    for (const failures of [failed(run), failedChecks(other)]) expect(failures).toEqual(checks);
    for (const { verdicts } of [run, other]) expect(verdicts.at(-1)?.height).toBe(LIED);
  });

  test("a timestamp three hours ahead", async () => {
    const ahead = Math.floor(Date.now() / 1000) + 3 * 3600;
    const { run, other } = await verifyBehind(forge((blob) => withTime(blob, ahead)));
    // The clock may be wrong, so the command line gives no verdict on the block.
    expect(run.code, run.stderr).toBe(2);
    expect(run.stderr).toContain(`error: block ${LIED} is ahead of this clock: `);
    expect(run.verdicts.at(-1)?.height).toBe(LIED - 1);
    expect(run.verdicts.every(({ valid }) => valid)).toBe(true);
    expect(failedChecks(other)).toEqual(["timestamp-future"]);
    expect(other.verdicts.at(-1)?.height).toBe(LIED);
  });

  test("another seed hash", async () => {
    const { run, other } = await verifyBehind((result, { method, params }) => {
      if (method === "get_block_header_by_height" && params.height === 0) {
        result.block_header.hash = "11".repeat(32);
      }
      return undefined;
    });
    // A single block may meet its difficulty under a wrong key by chance, but not all of them.
    expect(run.code, run.stderr).toBe(1);
    expect(failed(run)).toEqual(["proof-of-work"]);
    // The package knows the genesis block, and refuses a checkpoint with another one.
    expect(other.code).toBe("invalid-argument");
  });
});
