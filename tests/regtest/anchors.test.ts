/** `cargo xtask anchors` with a daemon that follows the difficulty rule, and with one that lies. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { exitCode } from "../programs.js";
import { Cleanup } from "./cleanup.js";
import { run, type FollowEvent } from "./cli.js";
import { Daemon } from "./daemon.js";
import { makeFolder, removeFolder } from "./leftovers.js";
import { idOf } from "./lies.js";
import { mine, NONCE, type Mined } from "./mine.js";
import { Proxy } from "./proxy.js";

const BLOCKS = 40;
const MORE = 3;
const START = 1_700_000_000;
const PACE = 85;

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

const cleanup = new Cleanup();
let daemon: Daemon;
let mined: Mined[];
let folder: string;

beforeAll(async () => {
  daemon = await Daemon.start();
  cleanup.add(() => daemon.stop());
  folder = await makeFolder("anchors");
  cleanup.add(() => removeFolder(folder));
  mined = await mine(daemon, times(0, BLOCKS));
});

afterAll(() => cleanup.run());

function times(first: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => START + PACE * (first + index));
}

function last(blocks: Mined[]): string {
  return idOf(blocks.at(-1)?.hashingBlob ?? Buffer.alloc(0));
}

/** Makes an anchor of a node's chain, and returns the exit code and the messages. */
function anchors(node: string, file: string): Promise<[code: number, stderr: string]> {
  const args = ["xtask", "anchors", "--network", "regtest", "--node", node, "--output", file];
  return new Promise((resolve) => {
    execFile("cargo", args, { cwd: ROOT }, (error, _, stderr) => {
      resolve([exitCode(error), stderr]);
    });
  });
}

test("an anchor has the blocks that the rules need, and is a start for others", async () => {
  const file = join(folder, "anchor.json");
  const [code, stderr] = await anchors(daemon.url, file);
  expect(code, stderr).toBe(0);
  const anchor = JSON.parse(await readFile(file, "utf8")) as {
    height: number;
    id: string;
    work: string;
    recent: { difficulty: string }[];
  };
  expect(anchor).toMatchObject({ height: BLOCKS, id: last(mined) });
  const difficulties = mined.map(({ difficulty }) => difficulty);
  expect(Math.max(...difficulties.map(Number))).toBeGreaterThan(1);
  expect(anchor.recent.slice(1).map(({ difficulty }) => BigInt(difficulty))).toEqual(difficulties);
  expect(BigInt(anchor.work)).toBe(difficulties.reduce((sum, one) => sum + one, 1n));

  const more = await mine(daemon, times(BLOCKS, MORE));
  const args = ["--network", "regtest", "--once", "--json", "--node", daemon.url];
  const followed = await run("follow", ...args, "--start", file);
  expect(followed.code, followed.stderr).toBe(0);
  const events = followed.stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as FollowEvent);
  const tips = events.filter(({ event }) => event === "tip");
  expect(tips.map(({ height }) => height)).toEqual([BLOCKS, BLOCKS + MORE]);
  expect(tips.at(-1)?.id).toBe(last(more));
});

test("no anchor is made of a chain with a block that is not valid", async () => {
  const liar = await Proxy.before(daemon.url, (result, { method, params }) => {
    if (method === "get_block" && params.height === BLOCKS / 2) {
      const bytes = Buffer.from(result.blob, "hex");
      // A version of the past.
      bytes.writeUInt8(15, 0);
      bytes.writeUInt8(bytes.readUInt8(NONCE) ^ 1, NONCE);
      result.blob = bytes.toString("hex");
    }
    return undefined;
  });
  const file = join(folder, "none.json");
  const [code] = await anchors(liar.url, file);
  liar.close();
  expect(code).not.toBe(0);
  expect(existsSync(file)).toBe(false);
});
