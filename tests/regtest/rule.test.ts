/** A daemon that computes its difficulties: what it demands, and lies that cost no work. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { RandomX } from "../node/support.js";
import { failed, verify } from "./cli.js";
import { Daemon } from "./daemon.js";
import { idOf } from "./lies.js";
import { meets, mine, withNonce, withTime, type Mined } from "./mine.js";
import { Proxy, type Alter } from "./proxy.js";

/** Difficulties grow from 1 to 14: the blocks come faster than every two minutes. */
const BLOCKS = 120;
const PACE = 85;
const START = 1_700_000_000;

/** Enough to bring timestamps out of order, which the rule sorts. */
const JITTER = [0, 60, -50, 20, -110, 30];

const LIED = 110;

let daemon: Daemon;
let mined: Mined[];

beforeAll(async () => {
  daemon = await Daemon.start();
  const time = (index: number): number => START + PACE * index + (JITTER[index % 6] ?? 0);
  mined = await mine(
    daemon,
    Array.from({ length: BLOCKS }, (_, index) => time(index)),
  );
});

afterAll(() => daemon.stop());

/** The block that is lied about. */
function victim(): Mined {
  const found = mined.find(({ height }) => height === LIED);
  if (!found) throw new Error("it was not mined");
  return found;
}

/** Puts a forged block, with the id that it would have, in the place of the true one. */
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

/** A nonce that is not enough work. */
async function poorNonce(): Promise<number> {
  const { hashingBlob, seedHash, difficulty } = victim();
  const randomx = await RandomX.create();
  const blobs = Array.from({ length: 8 }, (_, nonce) => withNonce(hashingBlob, 1_000_000 + nonce));
  const hashes = await randomx.hashMany(seedHash, blobs);
  randomx.dispose();
  return 1_000_000 + hashes.findIndex((hash) => !meets(hash, difficulty));
}

test("the rule demands what the daemon does", async () => {
  const difficulties = mined.map(({ difficulty }) => Number(difficulty));
  expect(Math.max(...difficulties)).toBeGreaterThan(8);
  const run = await verify(daemon.url, "--from", "1");
  expect(run.code, run.stderr).toBe(0);
  expect(run.verdicts.map(({ hash }) => hash)).toEqual(
    mined.map(({ hash }) => Buffer.from(hash).toString("hex")),
  );
});

describe("a node that says", () => {
  test.each<[string, () => Alter | Promise<Alter>, string[]]>([
    [
      "a nonce without work, with its id",
      async () => {
        const nonce = await poorNonce();
        return forge((blob) => withNonce(blob, nonce));
      },
      ["proof-of-work"],
    ],
    [
      "a time before that of most blocks",
      () => forge((blob) => withTime(blob, START)),
      ["timestamp-median"],
    ],
    [
      "a time three hours ahead",
      () => forge((blob) => withTime(blob, Math.floor(Date.now() / 1000) + 3 * 3600)),
      ["timestamp-future"],
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
    const proxy = await Proxy.before(daemon.url, await alter());
    const run = await verify(proxy.url, "--from", "100");
    proxy.close();
    expect(run.code, run.stderr).toBe(1);
    expect(failed(run)).toEqual(checks);
    expect(run.verdicts.at(-1)?.height).toBe(LIED);
  });

  test("another seed hash", async () => {
    const proxy = await Proxy.before(daemon.url, (result, { method, params }) => {
      if (method === "get_block_header_by_height" && params.height === 0) {
        result.block_header.hash = "11".repeat(32);
      }
      return undefined;
    });
    const run = await verify(proxy.url, "--from", "100");
    proxy.close();
    // With luck a block has enough work under any key, but not all of them.
    expect(run.code, run.stderr).toBe(1);
    expect(failed(run)).toEqual(["proof-of-work"]);
  });
});
