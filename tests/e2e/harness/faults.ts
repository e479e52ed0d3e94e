/** Causes faults while the package works, and returns the outcomes. */
import { RandomX, RandomXError } from "../../../wasm/js/index.js";
import { toHex } from "./hex.js";
import { withInstance } from "./instance.js";
import type { Batch } from "./vectors.js";
import { kill, killAt, liveWorkers, refuseMemory, spyOnWorkers } from "./workers.js";

/** The outcome of a call: the hashes in hex, or the error's code. */
type Outcome = string[] | string;

/** How long a batch runs before the fault, in milliseconds. */
const MIDDLE = 200;

/** Kills a worker in the middle of a batch, then hashes another batch. */
export async function killedInBatch(
  threads: number,
  large: Batch,
  small: Batch,
): Promise<{ batch: Outcome; next: Outcome; workers: number }> {
  return withInstance({ threads }, async (randomx) => {
    await hash(randomx, small);
    const running = hash(randomx, large);
    await sleep(MIDDLE);
    kill(threads - 1);
    const batch = await running;
    return { batch, next: await hash(randomx, small), workers: liveWorkers() };
  });
}

/** Aborts a batch in the middle, then hashes another one. */
export async function abortedInBatch(
  large: Batch,
  small: Batch,
): Promise<{ batch: Outcome; waited: number; next: Outcome }> {
  return withInstance({ threads: 2 }, async (randomx) => {
    await randomx.prepare(large.key);
    const abort = new AbortController();
    const running = hash(randomx, large, abort.signal);
    await sleep(MIDDLE);
    const start = performance.now();
    abort.abort();
    const batch = await running;
    const waited = performance.now() - start;
    return { batch, waited, next: await hash(randomx, small) };
  });
}

/** Hashes batches of several keys at once, in two instances. */
export async function keysAtOnce(batches: Batch[]): Promise<Outcome[]> {
  return withInstance({ threads: 2 }, (one) =>
    withInstance({ threads: 1 }, (other) =>
      Promise.all([
        ...batches.map((batch) => hash(one, batch)),
        ...batches.toReversed().map((batch) => hash(other, batch)),
      ]),
    ),
  );
}

/** Disposes of an instance while it hashes for several callers. */
export async function disposedUnderLoad(
  batches: Batch[],
): Promise<{ outcomes: Outcome[]; later: Outcome[]; workers: number }> {
  const randomx = await RandomX.create({ threads: 2 });
  await randomx.prepare(batches[0]?.key ?? "");
  const running = batches.map((batch) => hash(randomx, batch));
  await sleep(MIDDLE);
  randomx.dispose();
  const outcomes = await Promise.all(running);
  const later = await Promise.all(batches.map((batch) => hash(randomx, batch)));
  return { outcomes, later, workers: liveWorkers() };
}

/** Kills a worker that hashes the first batch of an engine. */
export async function killedInTrial(
  batch: Batch,
): Promise<{ before: Outcome; next: Outcome; workers: number }> {
  return withInstance({ threads: 2 }, async (randomx) => {
    const killed = killAt("hash", 5);
    const before = await hash(randomx, batch);
    await killed;
    return { before, next: await hash(randomx, batch), workers: liveWorkers() };
  });
}

/** Refuses memory for a cache, then grants it. */
export async function refusedMemory(batch: Batch): Promise<{ refused: Outcome; next: Outcome }> {
  spyOnWorkers();
  return withInstance({ threads: 1 }, async (randomx) => {
    await refuseMemory(true);
    const refused = await hash(randomx, batch);
    await refuseMemory(false);
    return { refused, next: await hash(randomx, batch) };
  });
}

/** Creates and disposes of instances, then uses one more. */
export async function comeAndGo(cycles: number): Promise<{ workers: number; seedHeight: number }> {
  for (let cycle = 0; cycle < cycles; cycle += 1) {
    const randomx = await RandomX.create({ threads: 1 });
    randomx.dispose();
  }
  const workers = liveWorkers();
  const seedHeight = await withInstance({ threads: 1 }, (randomx) => randomx.seedHeight(2113));
  return { workers, seedHeight };
}

async function hash(randomx: RandomX, batch: Batch, signal?: AbortSignal): Promise<Outcome> {
  const { key, version, inputs } = batch;
  try {
    return (await randomx.hashMany(key, inputs, { version, signal })).map(toHex);
  } catch (error) {
    if (error instanceof RandomXError) return error.code;
    throw error;
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
