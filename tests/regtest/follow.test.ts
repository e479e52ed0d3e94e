/** `randomx follow` and `randomx relay` with two daemons whose chains part and meet again. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { nativeProgram } from "../programs.js";
import { Cleanup } from "./cleanup.js";
import { follow, run, type FollowEvent, type FollowRun } from "./cli.js";
import { Daemon } from "./daemon.js";
import { end, killAtEnd, makeFolder, removeFolder } from "./leftovers.js";
import { startRelay } from "./relay.js";

/** The last common block, and the lengths of both sides. */
const COMMON = 10;
const SHORT = 5;
const LONG = 8;

const cleanup = new Cleanup();
let a: Daemon;
let b: Daemon;
let short: string[];
let long: string[];
let folder: string;

beforeAll(async () => {
  [a, b] = await Daemon.startTwo();
  cleanup.add(() => Promise.all([a.stop(), b.stop()]));
  folder = await makeFolder("follow");
  cleanup.add(() => removeFolder(folder));
  await a.generate(COMMON);
  await b.copy(a, 1, COMMON);
  short = await a.generate(SHORT);
  long = await b.generate(LONG);
});

afterAll(() => cleanup.run());

function last(events: FollowEvent[], kind: string): FollowEvent | undefined {
  return events.findLast(({ event }) => event === kind);
}

function tip({ events }: FollowRun): string | undefined {
  const { tip, id } = events.findLast(({ event }) => event === "tip" || event === "reorg") ?? {};
  return tip?.id ?? id;
}

test("the chain with more work wins, and the fork is evidence", async () => {
  const first = await follow("--node", a.url, "--store", folder);
  expect(first.code, first.stderr).toBe(0);
  expect(tip(first)).toBe(short.at(-1));
  const both = await follow("--node", a.url, "--node", b.url, "--store", folder);
  expect(both.code, both.stderr).toBe(0);
  expect(last(both.events, "reorg")).toMatchObject({
    common: { height: COMMON },
    depth: SHORT,
    tip: { height: COMMON + LONG, id: long.at(-1) },
  });
  const evidence = last(both.events, "disagreement")?.evidence ?? "";
  const verified = await run("verify", "--evidence", evidence);
  expect(verified.code, verified.stderr).toBe(0);
});

test("a node that has lost blocks is behind, and not accused", async () => {
  await b.pop(4);
  const popped = await follow("--node", b.url, "--store", folder);
  expect(popped.code, popped.stderr).toBe(0);
  expect(last(popped.events, "source")?.state).toBe("behind");
  expect(tip(popped)).toBe(long.at(-1));
  const [next] = (await b.generate(LONG)).slice(-1);
  const grown = await follow("--node", b.url, "--store", folder);
  expect(grown.code, grown.stderr).toBe(0);
  expect(tip(grown)).toBe(next);
});

test("without the daemon's fixed difficulty the message names the option", async () => {
  const args = ["--network", "regtest", "--once", "--json", "--node", a.url];
  const { code, stdout } = await run("follow", ...args);
  expect(code).toBe(1);
  expect(stdout).toContain("a node that runs with --fixed-difficulty needs the same setting here");
});

/** Starts a program, and kills it after so many milliseconds. */
async function killedAfter(milliseconds: number, args: string[]): Promise<void> {
  const program = killAtEnd(spawn(nativeProgram(), args, { stdio: "ignore" }));
  await pause(milliseconds);
  await end(program);
}

/** Starts a follower, and kills it a second after it has reached a block. */
async function killedAt(id: string | undefined, args: string[]): Promise<void> {
  const stdio = ["ignore", "pipe", "ignore"] as const;
  const follower = killAtEnd(spawn(nativeProgram(), [...args, "--json"], { stdio: [...stdio] }));
  for await (const line of createInterface({ input: follower.stdout })) {
    const event = JSON.parse(line) as FollowEvent;
    if (event.event === "tip" && event.id === id) break;
  }
  await pause(1000);
  await end(follower);
}

/** The times after which programs are killed, in milliseconds. */
const KILLS = [50, 150, 300, 500, 700, 900];

test("a follower that is killed goes on where it was", async () => {
  const store = join(folder, "killed");
  const source = ["--network", "regtest", "--fixed-difficulty", "1", "--node", b.url];
  const args = ["follow", ...source, "--store", store];
  for (const milliseconds of KILLS) await killedAfter(milliseconds, args);
  const [reached] = (await b.generate(2)).slice(-1);
  await killedAt(reached, args);
  await b.generate(1);
  const killed = await follow("--node", b.url, "--store", store);
  expect(killed.code, killed.stderr).toBe(0);
  const fresh = await follow("--node", b.url);
  const [begin, freshBegin] = [killed, fresh].map(({ events }) =>
    events.find(({ event }) => event === "tip"),
  );
  expect(begin?.id).toBe(reached);
  expect(freshBegin?.id).not.toBe(reached);
  expect(tip(killed)).toBe(tip(fresh));
});

test("a relay serves what its node has, and is killed at any time", async () => {
  const store = join(folder, "relay");
  for (const milliseconds of KILLS) {
    await b.generate(2);
    const args = ["relay", "--network", "regtest", "--node", b.url, "--store", store];
    await killedAfter(milliseconds, [...args, "--listen", "127.0.0.1:0"]);
  }
  for (const count of [1, 2]) {
    await b.generate(count);
    const [relay, url] = await startRelay(b.url, store);
    const direct = await follow("--node", b.url);
    const relayed = await follow("--relay", url);
    await end(relay);
    expect(relayed.code, relayed.stderr).toBe(0);
    expect(tip(relayed)).toBe(tip(direct));
  }
});
