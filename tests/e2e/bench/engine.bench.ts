/**
 * Times the package in browsers, randomx.js and the native builds: `npm run bench:web`. All take
 * turns in every round, so that ratios hold on a machine whose speed changes.
 */
import { expect, test } from "@playwright/test";
import type { Browser, BrowserName } from "../browsers/browser.js";
import { heldMemory } from "../browsers/memory.js";
import { openHarness, start } from "../browsers/test.js";
import { addBatches } from "./batches.js";
import { downloads } from "./downloads.js";
import { measureFollowing } from "./following.js";
import { describeMachine, measureNative } from "./native.js";
import { report, type Facts } from "./report.js";
import { Measurements } from "./rows.js";
import { addStarts } from "./starts.js";
import { place, subjects, what } from "./subjects.js";

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3);
/** The one part to measure, in minutes instead of half an hour: `following`, `batches` or `page`. */
const ONLY = process.env.BENCH_ONLY;
const BROWSERS = (process.env.BENCH_BROWSERS ?? "chromium,firefox,webkit").split(",");

/** Inputs that the peer hashes, one after another. */
const PEER_BATCH = 16;

test("following a chain", async () => {
  test.skip(ONLY !== "following", "the other benchmark contains it");
  const following: Facts["following"] = {};
  for (const name of BROWSERS) {
    const browser = await start(name as BrowserName);
    try {
      following[`${name} ${browser.version}`] = await measureFollowing(browser);
    } finally {
      await browser.close();
    }
  }
  report([], { machine: await describeMachine(), bytes: {}, memory: {}, following });
});

for (const [part, title, add] of [
  ["batches", "batches after a change of the key, by each choice of an engine", addBatches],
  ["page", "the page, from the request for it to the verdict on its block", addStarts],
] as const) {
  test(title, async () => {
    test.skip(ONLY !== part, "the other benchmark contains it");
    const measurements = new Measurements();
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const name of BROWSERS) {
        const browser = await start(name as BrowserName);
        try {
          await add(browser, `${name} ${browser.version}`, measurements, round);
        } finally {
          await browser.close();
        }
      }
    }
    const machine = await describeMachine();
    report(measurements.rows(), { machine, bytes: {}, memory: {}, following: {} });
  });
}

test("the package, its peer and the native builds", async () => {
  test.skip(ONLY !== undefined, "only a part is measured");
  const measurements = new Measurements();
  const facts: Facts = { machine: {}, bytes: await downloads(), memory: {}, following: {} };
  for (let round = 0; round < ROUNDS; round += 1) {
    facts.machine = await measureNative(measurements);
    for (const name of BROWSERS) await measureBrowser(name as BrowserName, round);
  }
  report(measurements.rows(), facts);

  async function measureBrowser(name: BrowserName, round: number): Promise<void> {
    const browser = await start(name);
    try {
      const label = `${name} ${browser.version}`;
      await addStarts(browser, label, measurements);
      await measurePackage(browser, label, round);
      await addBatches(browser, label, measurements, round);
      if (round === 0) {
        facts.memory[label] = await tabMemory(browser);
        facts.following[label] = await measureFollowing(browser);
      }
    } finally {
      await browser.close();
    }
  }

  async function measurePackage(browser: Browser, label: string, round: number): Promise<void> {
    const first = new Set<string | undefined>();
    for (const { options, loads } of subjects) {
      const harness = await openHarness(browser);
      const times = await harness.call("measure", options, loads, round);
      await harness.tab.close();
      const at = place(label, times.configuration);
      measurements.add({ ...at, what: "create" }, times.create);
      measurements.add({ ...at, what: "cache init" }, times.cache);
      loads.forEach((load, index) => {
        measurements.add({ ...at, what: what(load) }, times.hashes[index] ?? Number.NaN);
      });
      times.phases.forEach((phases, index) => {
        for (const [phase, ms] of Object.entries(phases) as [string, number][]) {
          const what = `hash, v${index + 1}, 24 in a batch: ${phase}`;
          measurements.add({ ...at, what }, ms);
        }
      });
      first.add(times.first[0]);
    }
    const harness = await openHarness(browser);
    const peer = await harness.call("measurePeer", PEER_BATCH, round);
    await harness.tab.close();
    if (peer) {
      first.add(peer.first);
      const at = { browser: label, engine: "randomx.js", tier: "its own", threads: 1, lanes: 1 };
      measurements.add({ ...at, what: "cache init" }, peer.cache);
      measurements.add({ ...at, what: `hash, v1, ${PEER_BATCH} in a batch` }, peer.hash);
    }
    expect([...first], "all compute the same first hash").toHaveLength(1);
  }
});

/** Returns the MiB that one worker with eight lanes adds to a tab. */
async function tabMemory(browser: Browser): Promise<number | undefined> {
  const harness = await openHarness(browser);
  const before = heldMemory();
  await harness.call("hold", { threads: 1 });
  const after = heldMemory();
  await harness.tab.close();
  return before === undefined || after === undefined ? undefined : after - before;
}
