/** Batches: inputs that one worker hashes together, of one request or of several that agree. */
import type { Calibration } from "./calibration.js";
import type { Connection } from "./connection.js";
import { splitHashes, timesOf } from "./hashed.js";
import { packed } from "./inputs.js";
import { Hashing, type KeyJob } from "./job.js";
import type { Args, Input } from "./protocol.js";
import type { Queue } from "./queue.js";
import type { Slot } from "./slots.js";
import type { Mode, Times } from "./types.js";

/** A part of a batch: inputs of one request, with the index of the first. */
export interface Part {
  job: Hashing;
  inputs: readonly Input[];
  first: number;
}

/** The limits of a batch. */
export interface Limits {
  /** Hashes that a worker computes together. */
  lanes: number;
  /** Idle workers, which share the waiting inputs. */
  workers: number;
  /** The place of the first request that the batch must not overtake. */
  before: number;
}

/** Takes the next batch out of the queue, from the head of a line and those after it that agree. */
export function takeBatch(queue: Queue, head: Hashing, limits: Limits): Part[] {
  head.batch ??= head.onTimes ? head.waiting : batchSize(head, limits);
  const parts: Part[] = [];
  let room = head.batch;
  for (const job of agreeing(head, limits.before)) {
    const part = { job, ...queue.handOut(job, room) };
    parts.push(part);
    room -= part.inputs.length;
    if (room === 0) break;
  }
  // Listeners run last: they may abort the requests that come next.
  for (const { job } of parts) job.filled(1);
  return parts;
}

/** Makes a worker hash or measure a batch. Returns the number of hashes. */
export async function hashBatch(
  connection: Connection,
  slot: Slot,
  head: Hashing,
  parts: readonly Part[],
  calibration: Calibration,
): Promise<number> {
  const inputs = parts.flatMap((part) => part.inputs);
  const { version } = head;
  const which = { slot: slot.index, version };
  if (head.onTimes) {
    return measure(connection, { ...which, engine: calibration.engine }, head, inputs);
  }
  const way = calibration.next(version, inputs.length, connection);
  const hashed = await connection.request("hash", { ...which, inputs: packed(inputs), ...way });
  slot.mode = hashed.mode;
  calibration.add(way, version, inputs.length, hashed.milliseconds);
  const hashes = splitHashes(hashed, inputs.length);
  let at = 0;
  for (const { job, inputs, first } of parts) {
    job.take(first, hashes.slice(at, (at += inputs.length)), inputs.length);
  }
  return inputs.length;
}

/** Inputs of one message to measure. With 8 lanes, most passes over scratchpads fill them for the next hashes too. */
const MEASURED = 32;

/** Makes a worker measure inputs, one message after another, so that an abort soon ends it. */
async function measure(
  connection: Connection,
  args: Omit<Args<"measure">, "inputs">,
  job: Hashing,
  inputs: readonly Input[],
): Promise<number> {
  const sum = timesOf([]);
  let first = 0;
  while (first < inputs.length && !job.isSettled) {
    const next = inputs.slice(first, first + MEASURED);
    const times = await connection.request("measure", { ...args, inputs: packed(next) });
    for (const phase of Object.keys(sum) as (keyof Times)[]) sum[phase] += times[phase];
    job.onTimes?.(sum);
    job.take(first, [], next.length);
    first += next.length;
  }
  return first;
}

/**
 * Returns how many batches must wait for each worker before it gets one while it hashes another. With a dataset a
 * batch takes few milliseconds. In light mode it takes longer, and a share of high priority that comes meanwhile
 * waits for it: only a long queue makes up for that.
 */
export function batchesToBeAhead(mode: Mode): number {
  return mode === "fast" ? 1 : 4;
}

/** Idle workers should finish at the same time, with no more batches than necessary. */
function batchSize(head: Hashing, { lanes, workers, before }: Limits): number {
  let inputs = 0;
  for (const job of agreeing(head, before)) {
    inputs += job.waiting;
    // With more than that the formula below gives `lanes`, so counting on is a waste.
    if (inputs > workers * lanes * lanes) return lanes;
  }
  const rounds = Math.ceil(inputs / (workers * lanes));
  return Math.ceil(inputs / (workers * rounds));
}

/** The number of requests that a batch may pass over, such as those of the other version of RandomX. */
const MAX_PASSED = 64;

/** Yields requests of a line that can be hashed together, from the head on. */
function* agreeing(head: Hashing, before: number): Iterable<Hashing> {
  let job: KeyJob | undefined = head;
  let passed = 0;
  while (job instanceof Hashing && job.place < before && passed <= MAX_PASSED) {
    // The request leaves the line when its last input is taken.
    const { next }: { next: KeyJob | undefined } = job;
    if (!agree(job, head)) passed += 1;
    else if (job.waiting > 0) yield job;
    job = next;
  }
}

function agree(a: Hashing, b: Hashing): boolean {
  if (a === b) return true;
  // Monero's rules may fail to load. That fails a whole batch.
  const isSame = a.version === b.version && a.needsRules === b.needsRules;
  return isSame && !a.onTimes && !b.onTimes && !a.isFresh;
}
