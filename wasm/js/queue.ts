/** The bounded queue of an instance: calls, and one line of requests for each key. */
import { unlessAborted } from "./abort.js";
import { equal } from "./bytes.js";
import { RandomXError, asRandomXError } from "./errors.js";
import { Call, Hashing, Release, type Job, type KeyJob } from "./job.js";
import { List } from "./list.js";
import { PRIORITIES, type Priority, type Waiting } from "./types.js";

/** The limit for the bytes of waiting requests: 256 MiB. */
const MAX_BYTES = 1 << 28;

/** More than the places of all requests of one priority. Sums with them are exact. */
const PRIORITY_STEP = 2 ** 50;

/** The waiting requests of one key, by priority and then in order. There is at least one. */
export interface Line {
  readonly key: Uint8Array;
  readonly head: KeyJob;
}

/** A line, as the queue keeps it. */
class Jobs extends List<KeyJob> implements Line {
  readonly key: Uint8Array;
  /** The last request of each priority. */
  readonly #last = new Map<Priority, KeyJob>();
  /** The number of releases of the lowest priority. */
  #lateReleases = 0;

  constructor(key: Uint8Array) {
    super();
    this.key = key;
  }

  get head(): KeyJob {
    if (!this.first) throw new Error("the line is empty");
    return this.first;
  }

  /**
   * Returns whether a request has to wait for those of the lowest priority: a key is released after all earlier
   * requests for it, and prepared after an earlier release.
   */
  isLate(job: KeyJob): boolean {
    return job instanceof Release ? this.#last.has("low") : job.isFill && this.#lateReleases > 0;
  }

  /** Adds a request after those of its priority and of higher ones. */
  override add(job: KeyJob): void {
    let after: KeyJob | undefined;
    for (const priority of PRIORITIES) {
      after = this.#last.get(priority) ?? after;
      if (priority === job.priority) break;
    }
    this.insert(job, after);
    this.#last.set(job.priority, job);
    if (isLateRelease(job)) this.#lateReleases += 1;
  }

  override remove(job: KeyJob): void {
    const { previous, priority } = job;
    if (this.#last.get(priority) === job) {
      if (previous?.priority === priority) this.#last.set(priority, previous);
      else this.#last.delete(priority);
    }
    if (isLateRelease(job)) this.#lateReleases -= 1;
    super.remove(job);
  }
}

/** Whether a release waits for requests of the lowest priority. */
function isLateRelease(job: KeyJob): boolean {
  return job instanceof Release && job.priority === "low";
}

/** Waiting requests. */
export class Queue {
  readonly #limit: number;
  readonly #calls = new List<Call>();
  /** Lines by the hash of their key. */
  readonly #byKey = new Map<number, Jobs[]>();
  /** Lines in the order of their heads. */
  readonly #lines: Jobs[] = [];
  #places = 0;
  #requests = 0;
  #bytes = 0;
  #inputs = 0;
  /** Called when a request or an input next leaves. */
  readonly #listeners: (() => void)[] = [];

  /** Makes a queue for at most `limit` inputs. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The first call that needs no cache. */
  get firstCall(): Call | undefined {
    return this.#calls.first;
  }

  /** The lines, in the order of their heads. */
  get lines(): readonly Line[] {
    return this.#lines;
  }

  /** The first request. */
  get first(): Job | undefined {
    const [call, head] = [this.#calls.first, this.#lines[0]?.head];
    return call && head ? (call.place < head.place ? call : head) : (call ?? head);
  }

  /** The number of requests so far. */
  get count(): number {
    return this.#places;
  }

  /** How much waits. */
  get waiting(): Waiting {
    return { requests: this.#requests, inputs: this.#inputs, bytes: this.#bytes };
  }

  /** Makes a call, and repeats it while the queue is full. */
  async whenRoom<T>(signal: AbortSignal | undefined, call: () => Promise<T>): Promise<T> {
    for (;;) {
      // The queue may have room again before the call has rejected.
      const departure = new Promise<void>((resolve) => {
        this.#listeners.push(resolve);
      });
      try {
        return await call();
      } catch (thrown) {
        if (asRandomXError(thrown).code !== "queue-full") throw thrown;
      }
      await unlessAborted(departure, signal);
    }
  }

  /** Throws `queue-full` if there is no room for so much more. */
  check(inputs: number, bytes = 0): void {
    if (this.#inputs + inputs > this.#limit) {
      throw queueFull("inputs", this.#limit, this.#inputs, inputs);
    }
    if (this.#bytes + bytes > MAX_BYTES) throw queueFull("bytes", MAX_BYTES, this.#bytes, bytes);
  }

  /** Adds a request after those of its priority. */
  add(job: Job): void {
    const inputs = job instanceof Hashing ? job.waiting : 0;
    this.check(inputs, job.bytes);
    // A verification that has begun fills its block's cache, whatever waits.
    if ((!(job instanceof Hashing) || job.isFill) && this.#requests >= this.#limit) {
      throw queueFull("calls", this.#limit, this.#requests, 1);
    }
    this.#requests += 1;
    this.#inputs += inputs;
    this.#bytes += job.bytes;
    if (!(job instanceof Call) && this.#lineOf(job.key)?.isLate(job)) job.priority = "low";
    this.#places += 1;
    job.place = this.#places + PRIORITY_STEP * PRIORITIES.indexOf(job.priority);
    if (job instanceof Call) this.#calls.add(job);
    else this.#addToLine(job);
  }

  /** Hands out the next inputs of a request, at most so many. One without more leaves the queue. */
  handOut(job: Hashing, most: number): ReturnType<Hashing["handOut"]> {
    const handedOut = job.handOut(most);
    this.#inputs -= handedOut.inputs.length;
    this.#left();
    if (job.waiting === 0) this.remove(job);
    return handedOut;
  }

  /** Removes a request, if it is still here. */
  remove(job: Job): void {
    if (job.place === 0) return;
    this.#requests -= 1;
    this.#bytes -= job.bytes;
    this.#left();
    if (job instanceof Hashing) this.#inputs -= job.waiting;
    if (job instanceof Call) this.#calls.remove(job);
    else this.#removeFromLine(job);
    job.place = 0;
  }

  /** Removes all requests and returns them. */
  clear(): Job[] {
    const jobs: Job[] = [];
    for (let job = this.first; job; job = this.first) {
      this.remove(job);
      jobs.push(job);
    }
    return jobs;
  }

  /** Returns the first request that waits for a key's cache. */
  firstFor(key: Uint8Array): Hashing | undefined {
    let job = this.#lineOf(key)?.first;
    while (job && !(job instanceof Hashing)) job = job.next;
    return job;
  }

  /** Removes those of the first `count` requests that wait for a key's cache, at most so many, and returns them. */
  takeFor(key: Uint8Array, count: number, most: number): Hashing[] {
    const taken: Hashing[] = [];
    let job: KeyJob | undefined = this.#lineOf(key)?.first;
    while (job && taken.length < most) {
      const { next }: { next: KeyJob | undefined } = job;
      if (job instanceof Hashing && job.place % PRIORITY_STEP <= count) {
        this.remove(job);
        taken.push(job);
      }
      job = next;
    }
    return taken;
  }

  #left(): void {
    for (const listener of this.#listeners.splice(0)) listener();
  }

  #lineOf(key: Uint8Array): Jobs | undefined {
    return this.#byKey.get(hashOf(key))?.find((line) => equal(line.key, key));
  }

  #newLine(key: Uint8Array): Jobs {
    const line = new Jobs(key);
    const hash = hashOf(key);
    this.#byKey.set(hash, [...(this.#byKey.get(hash) ?? []), line]);
    return line;
  }

  /** Keeps the lines in the order of their heads. */
  #addToLine(job: KeyJob): void {
    const line = this.#lineOf(job.key) ?? this.#newLine(job.key);
    const head = line.first;
    const isNext = !head || job.place < head.place;
    if (head && isNext) this.#lines.splice(this.#indexOf(head.place), 1);
    line.add(job);
    if (isNext) this.#lines.splice(this.#indexOf(job.place), 0, line);
  }

  /** Keeps the lines in the order of their heads. */
  #removeFromLine(job: KeyJob): void {
    const index = this.#indexOf(job.place);
    const line = this.#lines[index];
    if (line?.head !== job) {
      this.#lineOf(job.key)?.remove(job);
      return;
    }
    this.#lines.splice(index, 1);
    line.remove(job);
    if (line.first) {
      this.#lines.splice(this.#indexOf(line.first.place), 0, line);
      return;
    }
    const hash = hashOf(line.key);
    const others = this.#byKey.get(hash)?.filter((other) => other !== line) ?? [];
    if (others.length > 0) this.#byKey.set(hash, others);
    else this.#byKey.delete(hash);
  }

  /** Returns the index of the first line whose head is at a place or after it. */
  #indexOf(place: number): number {
    let [low, high] = [0, this.#lines.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#lines[middle]?.head.place ?? Infinity) < place) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** FNV-1a, to find a key among many. */
function hashOf(key: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (const byte of key) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash;
}

function queueFull(what: string, limit: number, waiting: number, more: number): RandomXError {
  return new RandomXError(
    "queue-full",
    `the queue: expected at most ${limit} ${what}, got ${more} more while ${waiting} wait`,
  );
}
