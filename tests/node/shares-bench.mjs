/**
 * Loads the package as a pool does: `npm run bench:shares [-- OPTIONS]`, which builds the package and the add-on first.
 *
 * The throughput is that of a closed loop, in which each verdict sends another share. All programs that are
 * compared take turns, and the median of the rounds counts.
 *
 * The load is an open loop: shares are due at a fixed rate, whatever was answered, and the time of a share
 * counts from when it was due. So a pause is paid by every share that was due during it. In the middle of a
 * run the seed changes. The longest delay of the event loop includes what other programs took; its own work is
 * the processor time of its thread, which Node tells since 22.19.
 *
 *   --engines native,jit   engines, one after another
 *   --threads 1,2          numbers of threads
 *   --mode light           or fast: needs 4.2 GiB for two seeds
 *   --prepare yes,no       whether the next seed is prepared before
 *   --load 0.7             the rate, as a part of the measured throughput
 *   --seconds 20           the length of each run
 *   --total N              instead: N shares, with a new seed for every tenth of them
 *   --hashed 1             the part of those shares that are hashed; the others expire in the queue
 *   --native FILE          the native add-on, by default the one that `npm run bench:shares` builds
 *   --addon NAME           another add-on, a name or a path for `require`: its `randomx(input, seed, 0)`
 *   --cli FILE             a native program to compare the throughput with
 *   --rounds 5             the rounds of the measurement of throughput
 */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { createInterface } from "node:readline";
import { setImmediate, setTimeout } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { RandomX } from "../../wasm/dist/js/index.js";
import { PACKAGES } from "../../wasm/dist/js/native/addon.js";

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
    native: text,
    addon: text,
    cli: text,
    rounds: { ...text, default: "5" },
  },
});
const [load, seconds, hashed] = [values.load, values.seconds, values.hashed].map(Number);

/** Shares of a measurement of throughput, for each thread: in light mode, and with a dataset. */
const COUNT = values.mode === "light" ? 400 : 2000;

/** Shares for each thread that wait in a closed loop. */
const WINDOW = 64;

/** Shares for each thread before the clock starts: the first ones measure the fastest number of lanes. */
const FIRST = 128;

/** The part of a run after its seed change that counts as the change, in milliseconds. */
const CHANGE_MS = 5000;

/** The add-on for this system, as `cargo xtask build-addon` leaves it. */
const built = PACKAGES[`${process.platform}-${process.arch}`]?.replace("randomx-web-", "");
const nativeUrl = values.native
  ? pathToFileURL(values.native)
  : new URL(`../../crates/node/npm/${built}/randomx.node`, import.meta.url);

/** Takes the time of `count` verdicts after the first ones. */
class Clock {
  #left;
  #count;
  #start = 0;
  rate = NaN;

  constructor(first, count) {
    this.#left = first + count;
    this.#count = count;
  }

  count() {
    this.#left -= 1;
    if (this.#left === this.#count) this.#start = performance.now();
    if (this.#left === 0) this.rate = (1000 * this.#count) / (performance.now() - this.#start);
  }
}

/** Finds the longest time that the event loop itself worked between two looks. Other programs do not count. */
class Turns {
  #last = NaN;
  /** In milliseconds. NaN before Node 22.19, which cannot tell. */
  longest = NaN;

  count() {
    const now = process.threadCpuUsage?.();
    if (!now) return;
    const time = (now.user + now.system) / 1000;
    const longest = Math.max(this.longest || 0, time - this.#last);
    if (longest >= 0) this.longest = longest;
    this.#last = time;
  }
}

for (const threads of values.threads.split(",").map(Number)) {
  const all = values.engines.split(",").map((engine) => ({
    engine,
    threads,
    slots: 2,
    mode: values.mode,
    datasetBytes: 2 * 2080 * 2 ** 20,
    ...(engine === "native" && { nativeUrl }),
  }));
  if (values.total) {
    for (const options of all) await endure(options, Number(values.total));
  } else {
    const rates = await compare(all, threads);
    for (const options of all) await measure(options, load * rates.get(name(options)));
  }
}

/** Measures the throughput of all programs in turns, and returns the median of each. */
async function compare(all, threads) {
  const subjects = new Map(all.map((options) => [name(options), () => throughput(options)]));
  if (values.cli) subjects.set("native program", () => program(threads));
  if (values.addon) subjects.set(`${values.addon}, light, no other thread`, others);
  const rates = new Map(Array.from(subjects.keys(), (subject) => [subject, []]));
  for (let round = 0; round < values.rounds; round += 1) {
    for (const [subject, measure] of subjects) rates.get(subject).push(await measure());
  }
  const medians = new Map();
  for (const [subject, list] of rates) {
    const shown = list.map((rate) => rate.toFixed(1)).join(", ");
    medians.set(
      subject,
      at(
        list.toSorted((a, b) => a - b),
        0.5,
      ),
    );
    console.log(`${subject}: throughput ${medians.get(subject).toFixed(1)} shares/s (${shown})`);
  }
  return medians;
}

/** Measures the times of shares at a rate. */
async function measure(options, rate) {
  const rows = {};
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
      "of it own work": run.own,
      "RSS MiB": run.memory,
    };
    await randomx[Symbol.asyncDispose]();
  }
  console.log(`${name(options)}: ${rate.toFixed(1)} shares/s are due, times in milliseconds`);
  console.table(rows);
}

/** Returns the shares a second of a closed loop. */
async function throughput(options) {
  const randomx = await RandomX.create(options);
  const seed = randomBytes(32);
  await randomx.prepare(seed);
  const [first, count] = [FIRST * options.threads, COUNT * options.threads];
  const shares = Array.from({ length: 2 * first + count }, () => share(seed));
  const clock = new Clock(first, count);
  const send = async () => {
    for (let next = shares.pop(); next; next = shares.pop()) {
      const [verdict] = randomx.verifyShares([next]);
      const { status, error } = await verdict;
      if (status !== "valid") throw error ?? new Error(status);
      clock.count();
    }
  };
  await Promise.all(Array.from({ length: WINDOW * options.threads }, send));
  await randomx[Symbol.asyncDispose]();
  return clock.rate;
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
  const turns = new Turns();
  for (let sent = 0; sent < count;) {
    turns.count();
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
    own: Math.round(10 * turns.longest) / 10,
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

/** Returns the verdicts a second that the native program writes for lines which all wait in its input. */
async function program(threads) {
  const options = ["--threads", String(threads), "--mode", values.mode];
  const child = spawn(values.cli, ["verify", "--jsonl", "-", ...options], {
    stdio: ["pipe", "pipe", "ignore"],
  });
  const seed = randomBytes(32).toString("hex");
  const line = () => ({ seed_hash: seed, hashing_blob: blob().toString("hex"), difficulty: 1 });
  const [first, count] = [FIRST * threads, COUNT * threads];
  const lines = Array.from({ length: 2 * first + count }, () => `${JSON.stringify(line())}\n`);
  child.stdin.end(lines.join(""));
  const clock = new Clock(first, count);
  const ended = once(child, "exit");
  for await (const verdict of createInterface(child.stdout)) {
    if (!verdict.includes("valid")) throw new Error(verdict);
    clock.count();
  }
  await ended;
  return clock.rate;
}

/** Returns the shares a second of another add-on, which blocks the event loop. */
function others() {
  const require = createRequire(import.meta.url);
  const { randomx } = require(values.addon.startsWith(".") ? resolve(values.addon) : values.addon);
  const seed = randomBytes(32);
  const filling = performance.now();
  randomx(blob(), seed, 0);
  const start = performance.now();
  for (let count = 0; count < COUNT; count += 1) randomx(blob(), seed, 0);
  const each = (performance.now() - start) / COUNT;
  console.log(`the event loop stops for ${Math.round(start - filling)} ms at a new seed`);
  return 1000 / each;
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
