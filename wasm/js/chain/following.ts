/**
 * The work of a follower: it starts the worker, hashes, sends requests, stores and reports. A page loads this module
 * only when it follows a chain.
 */
import { unlessAborted } from "../abort.js";
import { RandomXError, errorOf } from "../errors.js";
import { BUFFERS_WITHOUT_LIMIT } from "../flood.js";
import { newLock, watchLock } from "../lock.js";
import type { Scheduler } from "../scheduler.js";
import { startThread, type Thread } from "../thread.js";
import type { FollowChoices, SourceChoice } from "./arguments.js";
import { Fetches } from "./fetches.js";
import { Hashing } from "./hashing.js";
import type { Answers, ChainMessage, FromChain, Question, ToChain } from "./protocol.js";
import { eventsOf, tipOf } from "./reports.js";
import { Saving } from "./saving.js";
import type { ChainEvent, ChainTip, FoundTransaction, SourceStatus } from "./types.js";

/** The follower, as its work sees it. */
export interface Owner {
  scheduler: Scheduler;
  choices: FollowChoices;
  given: readonly SourceChoice[];
  /** The states of the sources, which the work updates. */
  sources: SourceStatus[];
  /** The newest trusted block. */
  tip: () => ChainTip | undefined;
  report: (event: ChainEvent) => void;
  /** Ends the follower with an error. */
  fail: (error: RandomXError) => void;
}

/** A question that waits for its answer. */
interface Pending {
  resolve: (answer: unknown) => void;
  reject: (error: RandomXError) => void;
}

/** The work of one follower, until it is closed. */
export class Following {
  readonly #owner: Owner;
  readonly #hashing: Hashing;
  readonly #fetches: Fetches;
  readonly #saving: Saving;
  readonly #questions = new Map<number, Pending>();
  readonly #failed = (reason: string): void => {
    this.#owner.fail(new RandomXError("worker-failed", reason));
  };
  readonly #thread: Thread<ChainMessage<ToChain>>;
  #asked = 0;
  #isClosed = false;

  /** Starts with a stored state, if there is one. */
  constructor(owner: Owner, state: Uint8Array | undefined) {
    this.#owner = owner;
    const { scheduler, choices, given } = owner;
    this.#saving = new Saving(choices.store, (error) => {
      owner.report({ type: "failure", part: "store", error });
    });
    this.#hashing = new Hashing(scheduler, {
      hashed: (job, hash) => {
        this.#post({ kind: "hashed", job, hash });
      },
      failed: (jobs, error) => {
        owner.report({ type: "failure", part: "hash", error });
        for (const job of jobs) this.#post({ kind: "hash-failed", job });
      },
    });
    this.#fetches = new Fetches(
      given.map(({ fetch }) => fetch),
      (message, transfer) => {
        this.#post(message, transfer);
      },
    );
    const { workerUrl, followWasmUrl } = scheduler.addresses;
    const sources = given.map(({ kind, url, fetch }) => ({
      ...{ kind, url },
      isRemote: fetch !== undefined || BUFFERS_WITHOUT_LIMIT,
    }));
    const listener = {
      message: ({ chain }: ChainMessage<FromChain>) => {
        this.#receive(chain);
      },
      failed: this.#failed,
    };
    this.#thread = startThread(listener, workerUrl);
    this.#thread.keepAlive(true);
    const { network, fixedDifficulty, sample, deep, poll, timeout, start } = choices;
    const settings = { network, fixedDifficulty, sample, deep, poll, timeout, start };
    const args = { ...settings, state, sources, followWasmUrl };
    this.#post({ kind: "begin", args, lock: newLock() });
  }

  /** Returns the place of a transaction, or `undefined`. */
  async find(txid: string, signal: AbortSignal | undefined): Promise<FoundTransaction | undefined> {
    const [id, found] = this.#pending<FoundTransaction | undefined>();
    this.#post({ kind: "find", id, txid });
    try {
      return await unlessAborted(found, signal);
    } finally {
      if (this.#questions.delete(id)) this.#post({ kind: "stop-find", id });
    }
  }

  /** Returns the answer to a question about the kept blocks. */
  ask<Q extends Question>(question: Q): Promise<Answers[Q["about"]]> {
    const [id, answer] = this.#pending<Answers[Q["about"]]>();
    this.#post({ kind: "question", id, question });
    return answer;
  }

  /** Ends everything. Settles when the worker is gone. Rejects if a save that goes on fails. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#hashing.close();
    this.#fetches.close();
    const closed = new RandomXError("disposed", "the chain is not followed any more");
    for (const { reject } of this.#questions.values()) reject(closed);
    this.#questions.clear();
    const gone = this.#thread.terminate();
    try {
      await this.#saving.idle();
    } finally {
      await gone;
    }
  }

  #receive(message: FromChain): void {
    if (this.#isClosed) return;
    const { report, fail, sources, tip } = this.#owner;
    switch (message.kind) {
      case "begun":
        if (message.refused !== undefined) {
          const error = new RandomXError("invalid-argument", message.refused);
          report({ type: "failure", part: "store", error });
        }
        if (message.tip) report({ type: "tip", tip: tipOf(message.tip) });
        break;
      case "held":
        watchLock(message.lock, this.#failed);
        break;
      case "failed":
        fail(errorOf(message.error));
        break;
      case "hash":
        this.#hashing.add(message.jobs);
        break;
      case "store":
        this.#saving.save(message.state);
        break;
      case "report":
        for (const event of eventsOf(message.report, message.failure, sources)) report(event);
        break;
      case "progress":
        report({
          type: "progress",
          read: message.read,
          checked: tip()?.height,
          target: message.target,
        });
        break;
      case "synced": {
        const newest = tip();
        if (newest) report({ type: "synced", tip: newest });
        break;
      }
      case "answer":
        this.#questions.get(message.id)?.resolve(message.answer);
        this.#questions.delete(message.id);
        break;
      default:
        this.#fetches.receive(message);
    }
  }

  /** Returns the number of a new question, and the promise of its answer. */
  #pending<T>(): [id: number, answer: Promise<T>] {
    const id = (this.#asked += 1);
    const answer = new Promise<T>((resolve, reject) => {
      this.#questions.set(id, { resolve: resolve as Pending["resolve"], reject });
    });
    return [id, answer];
  }

  #post(message: ToChain, transfer?: ArrayBuffer[]): void {
    this.#thread.post({ type: "chain", chain: message }, transfer);
  }
}
