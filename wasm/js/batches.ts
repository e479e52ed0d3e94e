/** Batches: inputs that one worker hashes together, of one request or of several that agree. */
import type { Calibration } from "./calibration.js";
import type { Connection } from "./connection.js";
import { splitHashes } from "./hashed.js";
import { packed } from "./inputs.js";
import { Hashing, type KeyJob } from "./job.js";
import type { Input } from "./protocol.js";
import type { Queue } from "./queue.js";
import type { Slot } from "./slots.js";
import type { Mode } from "./types.js";

/** A part of a batch: inputs of one request, with the index of the first. */
export interface Part {
  job: Hashing;
  inputs: readonly Input[];
  first: number;
}

/** What limits a batch. */
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

/** Makes a worker hash a batch, and returns the number of its inputs. */
export async function hashBatch(
  connection: Connection,
  slot: Slot,
  { version, onTimes }: Hashing,
  parts: readonly Part[],
  calibration: Calibration,
): Promise<number> {
  const inputs = parts.flatMap((part) => part.inputs);
  const way = onTimes ? { engine: calibration.engine } : calibration.next(version, inputs.length);
  const args = { slot: slot.index, version, inputs: packed(inputs), ...way };
  if (onTimes) onTimes(await connection.request("measure", args));
  const hashed = onTimes ? undefined : await connection.request("hash", args);
  if (hashed) {
    slot.mode = hashed.mode;
    calibration.add(way, version, inputs.length, hashed.milliseconds);
  }
  const hashes = hashed ? splitHashes(hashed, inputs.length) : [];
  let at = 0;
  for (const { job, inputs, first } of parts) {
    job.take(first, hashes.slice(at, (at += inputs.length)), inputs.length);
  }
  return inputs.length;
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
  return isSame && !a.onTimes && !b.onTimes;
}
