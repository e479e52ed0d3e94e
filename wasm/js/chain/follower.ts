/** A chain that is followed: a worker decides, and this thread hashes, stores and reports. */
/// <reference lib="esnext.disposable" preserve="true" />
import { unlessAborted } from "../abort.js";
import { RandomXError, aborted, asRandomXError } from "../errors.js";
import { BUFFERS_WITHOUT_LIMIT } from "../flood.js";
import { hex } from "../monero/hex.js";
import type { Scheduler } from "../scheduler.js";
import { startThread, type Thread } from "../thread.js";
import type { Bytes } from "../types.js";
import * as validate from "../validate.js";
import { followChoices, sourcesOf, type FollowChoices, type SourceChoice } from "./arguments.js";
import { EventQueue } from "./events.js";
import { Fetches } from "./fetches.js";
import { Hashing } from "./hashing.js";
import type { Answers, ChainMessage, FromChain, Question, ToChain } from "./protocol.js";
import { eventsOf, tipOf } from "./reports.js";
import { Saving } from "./saving.js";
import type {
  ChainEvent,
  ChainHeader,
  ChainTip,
  FindOptions,
  FoundTransaction,
  ProvenBlock,
  SourceStatus,
} from "./types.js";

/**
 * A chain that is followed. Iterate over it once to receive its events. Leaving the loop closes it.
 *
 * It follows the chain with the most work that its sources have. It trusts no source: each header is
 * checked by Monero's rules, and each proof of work is computed, or a sample. An unread event waits in
 * bounded memory.
 */
export class ChainFollower implements AsyncIterableIterator<ChainEvent> {
  readonly #scheduler: Scheduler;
  readonly #choices: FollowChoices;
  readonly #given: readonly SourceChoice[];
  readonly #sources: SourceStatus[];
  readonly #events = new EventQueue();
  readonly #hashing: Hashing;
  readonly #fetches: Fetches;
  readonly #saving: Saving;
  readonly #finds = new Map<number, (found: FoundTransaction | undefined) => void>();
  readonly #questions = new Map<number, Pending>();
  readonly #stop = new AbortController();
  readonly #detach: () => void;
  #thread: Thread<ToChainMessage> | undefined;
  #tip: ChainTip | undefined;
  #asked = 0;
  #closing: Promise<void> | undefined;

  /** @internal */
  constructor(scheduler: Scheduler, sources: unknown, options: unknown) {
    this.#scheduler = scheduler;
    this.#given = sourcesOf(sources);
    this.#choices = followChoices(options);
    const { signal, store } = this.#choices;
    scheduler.check(0, signal);
    this.#sources = this.#given.map(({ kind, url }, index) => ({
      ...{ index, kind, url },
      state: "connecting",
    }));
    this.#saving = new Saving(store, (error) => {
      this.#events.push({ type: "failure", part: "store", error });
    });
    this.#hashing = new Hashing(scheduler, {
      hashed: (job, hash) => {
        this.#post({ kind: "hashed", job, hash });
      },
      failed: (jobs, error) => {
        this.#events.push({ type: "failure", part: "hash", error });
        for (const job of jobs) this.#post({ kind: "hash-failed", job });
      },
    });
    this.#fetches = new Fetches(
      this.#given.map(({ fetch }) => fetch),
      (message, transfer) => {
        this.#post(message, transfer);
      },
    );
    const onAbort = (): void => {
      if (signal) void this.#end(aborted(signal));
    };
    signal?.addEventListener("abort", onAbort);
    const detach = scheduler.attach((error) => void this.#end(error));
    this.#detach = () => {
      signal?.removeEventListener("abort", onAbort);
      detach();
    };
    void this.#begin();
  }

  /**
   * The newest trusted block. `undefined` before the state was loaded, and before a first start has
   * reached its anchor.
   */
  get tip(): ChainTip | undefined {
    return this.#tip && { ...this.#tip };
  }

  /** The sources with their states, in the given order. */
  get sources(): SourceStatus[] {
    return this.#sources.map((source) => ({ ...source }));
  }

  /** Returns the number of blocks from a height to the tip, both included, or 0 above the tip. */
  confirmations(height: number): number {
    validate.height("height", height);
    return this.#tip === undefined ? 0 : Math.max(0, this.#tip.height + 1 - height);
  }

  /**
   * Returns the place of a transaction in the chain. The nodes among the sources are asked where it is,
   * and the block's tree of hashes proves it. `undefined` means that no node showed it in one of the
   * blocks that are kept, those of the last three days. That a transaction is nowhere cannot be proven.
   *
   * @param txid - the transaction's id, 32 bytes.
   * @throws {@link RandomXError} `invalid-argument`, `aborted`.
   */
  async find(txid: Bytes, options: FindOptions = {}): Promise<FoundTransaction | undefined> {
    const wanted = hex(validate.hash("txid", txid));
    const { signal } = validate.fields("options", options, { signal: validate.signal });
    if (signal?.aborted) throw aborted(signal);
    if (!this.#thread || this.#stop.signal.aborted) return undefined;
    const id = (this.#asked += 1);
    const found = new Promise<FoundTransaction | undefined>((resolve) => {
      this.#finds.set(id, resolve);
    });
    this.#post({ kind: "find", id, txid: wanted });
    try {
      return await unlessAborted(found, signal);
    } finally {
      if (this.#finds.delete(id)) this.#post({ kind: "stop-find", id });
    }
  }

  /**
   * Returns the blocks from one height to another that are kept, those of the last three days, the
   * oldest first.
   *
   * @throws {@link RandomXError} `invalid-argument`, `disposed`.
   */
  headers(first: number, last: number): Promise<ChainHeader[]> {
    validate.height("first", first);
    validate.height("last", last);
    return this.#ask({ about: "headers", first, last });
  }

  /**
   * Returns what a block blob proves, or `undefined` if it is none of the blocks that are kept.
   *
   * @param block - the blob, as a node's `get_block` returns it, at most 1 MiB.
   * @throws {@link RandomXError} `invalid-argument`, `disposed`.
   */
  prove(block: Bytes): Promise<ProvenBlock | undefined> {
    return this.#ask({ about: "block", block: validate.bytes("block", block) });
  }

  /**
   * Returns the id of each transaction, or `undefined` for what is no whole transaction.
   *
   * @param transactions - each at most 1 MiB.
   * @throws {@link RandomXError} `invalid-argument`, `disposed`.
   */
  transactionIds(transactions: readonly Bytes[]): Promise<(string | undefined)[]> {
    const blobs = validate.byteArrays("transactions", transactions);
    return this.#ask({ about: "transactions", transactions: blobs });
  }

  /**
   * Ends the following. Requests and hashes are aborted, and the last state is stored. The loop over
   * the events ends. A second call returns the same promise.
   */
  close(): Promise<void> {
    return this.#end(undefined);
  }

  /** Does the same as {@link ChainFollower.close}, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Returns the next event. */
  next(): Promise<IteratorResult<ChainEvent, void>> {
    return this.#events.next();
  }

  /** Closes, when the loop is left. */
  async return(): Promise<IteratorResult<ChainEvent, void>> {
    await this.close();
    this.#events.clear();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async #begin(): Promise<void> {
    try {
      const state = await this.#load();
      if (this.#stop.signal.aborted) return;
      const { workerUrl, followWasmUrl } = this.#scheduler.addresses;
      const sources = this.#given.map(({ kind, url, fetch }) => ({
        ...{ kind, url },
        isRemote: fetch !== undefined || BUFFERS_WITHOUT_LIMIT,
      }));
      const listener = {
        message: ({ chain }: FromChainMessage) => {
          this.#receive(chain);
        },
        failed: (reason: string) => {
          void this.#end(new RandomXError("worker-failed", reason));
        },
      };
      this.#thread = startThread(listener, workerUrl);
      this.#thread.keepAlive(true);
      const { network, fixedDifficulty, sample, deep, poll, timeout, start } = this.#choices;
      const settings = { network, fixedDifficulty, sample, deep, poll, timeout, start };
      this.#post({ kind: "begin", args: { ...settings, state, sources, followWasmUrl } });
    } catch (thrown) {
      await this.#end(asRandomXError(thrown));
    }
  }

  /** Loads the state. Without it the client begins anew. */
  async #load(): Promise<Uint8Array | undefined> {
    try {
      const state: unknown = await unlessAborted(this.#choices.store.load(), this.#stop.signal);
      return state === undefined ? undefined : validate.state("store", state);
    } catch (thrown) {
      if (!this.#stop.signal.aborted) {
        this.#events.push({ type: "failure", part: "store", error: asRandomXError(thrown) });
      }
      return undefined;
    }
  }

  #receive(message: FromChain): void {
    if (this.#stop.signal.aborted) return;
    switch (message.kind) {
      case "begun":
        if (message.refused !== undefined) {
          const error = new RandomXError("invalid-argument", message.refused);
          this.#events.push({ type: "failure", part: "store", error });
        }
        if (message.tip) this.#report({ type: "tip", tip: tipOf(message.tip) });
        break;
      case "failed":
        void this.#end(new RandomXError(message.error.code, message.error.message));
        break;
      case "hash":
        this.#hashing.add(message.jobs);
        break;
      case "store":
        this.#saving.save(message.state);
        break;
      case "report":
        for (const event of eventsOf(message.report, message.failure, this.#sources)) {
          this.#report(event);
        }
        break;
      case "progress": {
        const { read, target } = message;
        this.#events.push({ type: "progress", read, checked: this.#tip?.height, target });
        break;
      }
      case "synced":
        if (this.#tip) this.#events.push({ type: "synced", tip: this.#tip });
        break;
      case "found":
        this.#finds.get(message.id)?.(message.found);
        this.#finds.delete(message.id);
        break;
      case "answer":
        this.#questions.get(message.id)?.resolve(message.answer);
        this.#questions.delete(message.id);
        break;
      default:
        this.#fetches.receive(message);
    }
  }

  #report(event: ChainEvent): void {
    if (event.type === "tip" || event.type === "reorg") this.#tip = event.tip;
    this.#events.push(event);
  }

  #ask<Q extends Question>(question: Q): Promise<Answers[Q["about"]]> {
    const id = (this.#asked += 1);
    return new Promise((resolve, reject) => {
      if (!this.#thread || this.#stop.signal.aborted) {
        reject(new RandomXError("disposed", "the chain is not followed"));
        return;
      }
      this.#questions.set(id, { resolve: resolve as (answer: unknown) => void, reject });
      this.#post({ kind: "question", id, question });
    });
  }

  #post(message: ToChain, transfer?: ArrayBuffer[]): void {
    this.#thread?.post({ type: "chain", chain: message }, transfer);
  }

  #end(error: RandomXError | undefined): Promise<void> {
    this.#closing ??= this.#close(error);
    return this.#closing;
  }

  async #close(error: RandomXError | undefined): Promise<void> {
    this.#stop.abort();
    this.#detach();
    this.#hashing.close();
    this.#fetches.close();
    for (const resolve of this.#finds.values()) resolve(undefined);
    this.#finds.clear();
    const closed = new RandomXError("disposed", "the chain is not followed any more");
    for (const { reject } of this.#questions.values()) reject(closed);
    this.#questions.clear();
    this.#events.end(error);
    const gone = this.#thread?.terminate();
    await this.#saving.idle();
    await gone;
  }
}

/** A question that waits for its answer. */
interface Pending {
  resolve: (answer: unknown) => void;
  reject: (error: RandomXError) => void;
}

type ToChainMessage = ChainMessage<ToChain>;
type FromChainMessage = ChainMessage<FromChain>;
