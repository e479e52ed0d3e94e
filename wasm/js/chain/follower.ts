/** A chain that is followed, as its user sees it. Its work is in a module that is loaded for it. */
/// <reference lib="esnext.disposable" preserve="true" />
import { unlessAborted } from "../abort.js";
import { RandomXError, aborted, asRandomXError } from "../errors.js";
import { hex } from "../monero/hex.js";
import type { Scheduler } from "../scheduler.js";
import type { Bytes } from "../types.js";
import * as validate from "../validate.js";
import { followChoices, sourcesOf, type FollowChoices, type SourceChoice } from "./arguments.js";
import { EventQueue } from "./events.js";
import type { Following } from "./following.js";
import type { Answers, Question } from "./protocol.js";
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
  readonly #stop = new AbortController();
  readonly #detach: () => void;
  /** Resolves when the work has begun, or will not begin. */
  readonly #begun: Promise<void>;
  #following: Following | undefined;
  #tip: ChainTip | undefined;
  #isSynced = false;
  #closing: Promise<void> | undefined;

  /** @internal */
  constructor(scheduler: Scheduler, sources: unknown, options: unknown) {
    this.#scheduler = scheduler;
    this.#given = sourcesOf(sources);
    this.#choices = followChoices(options);
    const { signal } = this.#choices;
    scheduler.check(0, signal);
    this.#sources = this.#given.map(({ kind, url }, index) => ({
      ...{ index, kind, url },
      state: "connecting",
    }));
    const onAbort = (): void => {
      if (signal) void this.#end(aborted(signal));
    };
    signal?.addEventListener("abort", onAbort);
    const detach = scheduler.attach((error) => this.#end(error).catch(() => undefined));
    this.#detach = () => {
      signal?.removeEventListener("abort", onAbort);
      detach();
    };
    this.#begun = this.#begin();
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

  /**
   * Whether there was a `synced` event, and the following has not ended.
   *
   * @internal
   */
  get isSynced(): boolean {
    return this.#isSynced && !this.#closing;
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
   * @throws {@link RandomXError} `invalid-argument`, `aborted`, `disposed`.
   */
  async find(txid: Bytes, options: FindOptions = {}): Promise<FoundTransaction | undefined> {
    const wanted = hex(validate.hash("txid", txid));
    const { signal } = validate.fields("options", options, { signal: validate.signal });
    await unlessAborted(this.#begun, signal);
    return this.#live.find(wanted, signal);
  }

  /**
   * Returns the blocks from one height to another that are kept, those of the last three days, the
   * oldest first.
   *
   * @throws {@link RandomXError} `invalid-argument`, `disposed`.
   */
  async headers(first: number, last: number): Promise<ChainHeader[]> {
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
  async prove(block: Bytes): Promise<ProvenBlock | undefined> {
    return this.#ask({ about: "block", block: validate.bytes("block", block) });
  }

  /**
   * Returns the id of each transaction, or `undefined` for what is no whole transaction.
   *
   * @param transactions - each at most 1 MiB.
   * @throws {@link RandomXError} `invalid-argument`, `disposed`.
   */
  async transactionIds(transactions: readonly Bytes[]): Promise<(string | undefined)[]> {
    const blobs = validate.byteArrays("transactions", transactions);
    return this.#ask({ about: "transactions", transactions: blobs });
  }

  /**
   * Ends the following. Requests and hashes are aborted, and the last state is stored. The loop over
   * the events ends. A second call returns the same promise. It rejects if the store fails meanwhile. An
   * earlier failure is an event.
   *
   * @throws {@link RandomXError} `worker-failed`, or the code of the store's own error.
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
    const closed = this.close();
    this.#events.clear();
    await closed;
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async #begin(): Promise<void> {
    try {
      const [state, { Following }] = await Promise.all([this.#load(), import("./following.js")]);
      if (this.#stop.signal.aborted) return;
      const owner = {
        ...{ scheduler: this.#scheduler, choices: this.#choices },
        ...{ given: this.#given, sources: this.#sources },
        tip: () => this.tip,
        report: (event: ChainEvent) => {
          this.#report(event);
        },
        fail: (error: RandomXError) => void this.#end(error),
      };
      this.#following = new Following(owner, state);
    } catch (thrown) {
      await this.#end(asRandomXError(thrown));
    }
  }

  /** Loads the state. Without it the client begins anew. */
  async #load(): Promise<Uint8Array | undefined> {
    try {
      // A store without types may return the state itself, or another kind of promise.
      const loaded: Promise<unknown> = Promise.resolve(this.#choices.store.load());
      const state = await unlessAborted(loaded, this.#stop.signal);
      return state === undefined ? undefined : validate.state("store", state);
    } catch (thrown) {
      if (!this.#stop.signal.aborted) {
        this.#events.push({ type: "failure", part: "store", error: asRandomXError(thrown) });
      }
      return undefined;
    }
  }

  #report(event: ChainEvent): void {
    // A reader owns its events.
    if (event.type === "tip" || event.type === "reorg") this.#tip = { ...event.tip };
    this.#isSynced ||= event.type === "synced";
    this.#events.push(event);
  }

  async #ask<Q extends Question>(question: Q): Promise<Answers[Q["about"]]> {
    await this.#begun;
    return this.#live.ask(question);
  }

  /** The work, while there is one. */
  get #live(): Following {
    if (this.#following) return this.#following;
    throw new RandomXError("disposed", "the chain is not followed");
  }

  #end(error: RandomXError | undefined): Promise<void> {
    this.#closing ??= this.#close(error);
    // Only a caller of `close` receives the store's failure.
    this.#closing.catch(() => undefined);
    return this.#closing;
  }

  async #close(error: RandomXError | undefined): Promise<void> {
    this.#stop.abort();
    const gone = this.#following?.close();
    this.#following = undefined;
    this.#events.end(error);
    try {
      await gone;
    } finally {
      // Before that, the end of the instance waits for this one.
      this.#detach();
    }
  }
}
