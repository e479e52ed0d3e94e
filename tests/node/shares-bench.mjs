/**
 * Loads the package as a pool does: `npm run bench:shares [-- OPTIONS]`, after `cargo xtask build-package` and
 * `cargo xtask build-addon`.
 *
 * The load is an open loop: shares are due at a fixed rate, whatever was answered, and the time of a share
 * counts from when it was due. So a pause is paid by every share that was due during it. In the middle of a
 * run the seed changes.
 *
 *   --engines native,jit   engines, one after another
 *   --threads 1,2          numbers of threads
 *   --mode light           or fast: needs 4.2 GiB for two seeds
 *   --prepare yes,no       whether the next seed is prepared before
 *   --load 0.7             the rate, as a part of the measured throughput
 *   --seconds 20           the length of each run
 *   --total N              instead: N shares, with a new seed for every tenth of them
 *   --hashed 1             the part of those shares that are hashed; the others expire in the queue
 *   --addon NAME           another add-on, a name or a path for `require`: its `randomx(input, seed, 0)`
 *   --cli FILE             a native program to compare the throughput with
 */
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setImmediate, setTimeout } from "node:timers/promises";
import { parseArgs } from "node:util";
import { RandomX } from "../../wasm/dist/js/index.js";

const text = { type: "string" };
const { values } = parseArgs({
  options: {
    engines: { ...text, default: "native,jit" },
    threads: { ...text, default: "1,2" },
    mode: { ...text, default: "light" },
    prepare: { ...text, default: "yes,no" },
    load: { ...text, default: "0.7" },
    seconds: { ...text, default: "20" },
    total: text,
    hashed: { ...text, default: "1" },
    addon: text,
    cli: text,
  },
});
const [load, seconds, hashed] = [values.load, values.seconds, values.hashed].map(Number);

/** Shares of the measurement of throughput, for each thread. */
const BATCH = 400;

/** The part of a run after its seed change that counts as the change, in milliseconds. */
const CHANGE_MS = 5000;

const nativeUrl = new URL("../../crates/node/npm/linux-x64-gnu/randomx.node", import.meta.url);

for (const threads of values.threads.split(",").map(Number)) {
  for (const engine of values.engines.split(",")) {
    const options = {
      engine,
      threads,
      slots: 2,
      mode: values.mode,
      datasetBytes: 2 * 2080 * 2 ** 20,
    };
    if (engine === "native") options.nativeUrl = nativeUrl;
    if (values.total) await endure(options, Number(values.total));
    else await measure(options);
  }
  if (values.cli) compare(threads);
}
if (values.addon) others(values.addon);

/** Measures the throughput, and then the times of shares at a part of it. */
async function measure(options) {
  const rows = {};
  const rate = load * (await throughput(options));
  for (const prepare of values.prepare.split(",")) {
    const randomx = await RandomX.create(options);
    const run = await openLoop(randomx, rate, prepare === "yes");
    const { part } = run;
    rows[prepare === "yes" ? "prepared" : "not prepared"] = {
      "p50 before": part("before", 0.5),
      "p99 before": part("before", 0.99),
      "p99.9 before": part("before", 0.999),
      "p50 change": part("change", 0.5),
      "p99 change": part("change", 0.99),
      "p99.9 change": part("change", 0.999),
      "event loop p99": run.loop(99),
      "event loop most": run.loop(100),
      "RSS MiB": run.memory,
    };
    await randomx[Symbol.asyncDispose]();
  }
  console.log(`${name(options)}: ${rate.toFixed(1)} shares/s are due, times in milliseconds`);
  console.table(rows);
}

/** Returns the shares a second of a closed loop: as many as fit are always waiting. */
async function throughput(options) {
  const randomx = await RandomX.create(options);
  const seed = randomBytes(32);
  await randomx.prepare(seed);
  const shares = Array.from({ length: BATCH * options.threads }, () => share(seed));
  await Promise.all(randomx.verifyShares(shares.slice(0, 16)));
  const rates = [];
  for (let round = 0; round < 3; round += 1) {
    const start = performance.now();
    const verdicts = await Promise.all(randomx.verifyShares(shares));
    rates.push((1000 * verdicts.length) / (performance.now() - start));
    if (verdicts.some(({ status }) => status !== "valid")) throw new Error("a share was refused");
  }
  await randomx[Symbol.asyncDispose]();
  const median = rates.sort((a, b) => a - b)[1];
  const all = rates.map((rate) => rate.toFixed(1)).join(", ");
  console.log(`${name(options)}: throughput ${median.toFixed(1)} shares/s (${all})`);
  return median;
}

/** Sends shares when they are due. Half of them have the next seed. */
async function openLoop(randomx, rate, prepare) {
  const [seed, next] = [randomBytes(32), randomBytes(32)];
  await randomx.prepare(seed);
  await Promise.all(randomx.verifyShares([share(seed)]));
  const times = { before: [], change: [], after: [] };
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const start = performance.now();
  const change = 500 * seconds;
  const pending = [];
  const count = Math.floor(rate * seconds);
  let preparing = !prepare;
  for (let sent = 0; sent < count;) {
    const now = performance.now() - start;
    if (!preparing && now > change / 4) {
      preparing = true;
      pending.push(randomx.prepare(next));
    }
    for (; sent < count && (1000 * sent) / rate <= now; sent += 1) {
      const due = (1000 * sent) / rate;
      const when = due < change ? "before" : due < change + CHANGE_MS ? "change" : "after";
      const [verdict] = randomx.verifyShares([share(due < change ? seed : next)]);
      pending.push(
        verdict.then(({ status, error }) => {
          if (status !== "valid") throw error ?? new Error(status);
          times[when].push(performance.now() - start - due);
        }),
      );
    }
    await setTimeout(1);
  }
  await Promise.all(pending);
  delay.disable();
  for (const list of Object.values(times)) list.sort((a, b) => a - b);
  return {
    part: (when, quantile) => Math.round(at(times[when], quantile)),
    // The histogram counts its own millisecond.
    loop: (percent) => Math.round(10 * (delay.percentile(percent) / 1e6 - 1)) / 10,
    memory: Math.round(process.memoryUsage.rss() / 2 ** 20),
  };
}

/** Verifies many shares with seeds that change, and prints the memory at each change. */
async function endure(options, total) {
  const randomx = await RandomX.create(options);
  const rows = [];
  for (let part = 0; part < 10; part += 1) {
    const seed = randomBytes(32);
    await randomx.prepare(seed);
    const counts = { valid: 0, expired: 0 };
    const start = performance.now();
    for (let done = 0; done < total / 10;) {
      const shares = Array.from({ length: Math.min(1000, Math.ceil(total / 10) - done) }, () => {
        const isHashed = Math.random() < hashed;
        return {
          ...share(seed),
          priority: isHashed ? "high" : "low",
          timeout: isHashed ? 600_000 : 1,
        };
      });
      for (const { status } of await Promise.all(randomx.verifyShares(shares))) counts[status] += 1;
      done += shares.length;
      await setImmediate();
    }
    globalThis.gc?.();
    rows.push({
      ...counts,
      seconds: Math.round((performance.now() - start) / 1000),
      "RSS MiB": Math.round(process.memoryUsage.rss() / 2 ** 20),
      "heap MiB": Math.round(process.memoryUsage().heapUsed / 2 ** 20),
    });
  }
  await randomx[Symbol.asyncDispose]();
  console.log(`${name(options)}: ${total} shares, a new seed for every tenth`);
  console.table(rows);
}

/** Measures the throughput of the native program. Runs of two lengths differ by hashing alone. */
function compare(threads) {
  const folder = mkdtempSync(join(tmpdir(), "randomx-shares-"));
  const seed = randomBytes(32).toString("hex");
  const run = (shares) => {
    const file = join(folder, `${shares}.jsonl`);
    const line = () => ({ seed_hash: seed, hashing_blob: blob().toString("hex"), difficulty: 1 });
    const lines = Array.from({ length: shares }, () => `${JSON.stringify(line())}\n`);
    writeFileSync(file, lines.join(""));
    const start = performance.now();
    const options = ["--threads", String(threads), "--mode", values.mode];
    execFileSync(values.cli, ["verify", "--jsonl", file, ...options], { stdio: "ignore" });
    return performance.now() - start;
  };
  const more = BATCH * threads;
  const rates = [0, 1, 2].map(() => (1000 * more) / -(run(more) - run(2 * more)));
  rmSync(folder, { recursive: true });
  const median = rates.sort((a, b) => a - b)[1];
  console.log(`native program, ${threads} threads: throughput ${median.toFixed(1)} shares/s`);
}

/** Measures another add-on, which blocks the event loop. */
function others(addon) {
  const require = createRequire(import.meta.url);
  const { randomx } = require(addon.startsWith(".") ? resolve(addon) : addon);
  const seed = randomBytes(32);
  const filling = performance.now();
  randomx(blob(), seed, 0);
  const start = performance.now();
  for (let count = 0; count < BATCH; count += 1) randomx(blob(), seed, 0);
  const each = (performance.now() - start) / BATCH;
  console.log(
    `${addon}: ${(1000 / each).toFixed(1)} shares/s on one thread; the event loop stops for ` +
      `${each.toFixed(1)} ms a share, and ${Math.round(start - filling)} ms at a new seed`,
  );
}

/** A share that any hash meets. */
function share(seed) {
  return { seed, blob: blob(), difficulty: 1 };
}

/** Bytes of a hashing blob's length. */
function blob() {
  return randomBytes(76);
}

function at(sorted, quantile) {
  return sorted[Math.min(sorted.length - 1, Math.floor(quantile * sorted.length))] ?? NaN;
}

function name({ engine, threads, mode }) {
  return `${engine}, ${mode}, ${threads} ${threads === 1 ? "thread" : "threads"}`;
}
