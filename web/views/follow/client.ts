/** Runs the chain client of this tab, until it is stopped. */
import {
  MoneroNode,
  RandomXError,
  type ChainCheckpoint,
  type ChainFollower,
  type ChainSource,
  type SourceStatus,
} from "../../../wasm/js/index.js";
import { engine } from "../../engine/engine.js";
import { failure } from "../../shell/words.js";
import type { Chain, Settings } from "./settings.js";
import {
  after,
  afterSave,
  anew,
  searchedBlocks,
  withLookup,
  type Lookup,
  type State,
} from "./state.js";
import { ChainStore, type Beginning } from "./store.js";

/** Seconds between questions for new blocks. A chain for tests grows when its owner likes. */
const POLL = { regtest: 1, others: 20 };

/** Why nobody was asked for a transaction. */
const NO_NODE =
  "could not be looked for: only a node can show a transaction, and no node is named.";
const NO_ANSWER = "could not be looked for: no node answers with blocks of this chain.";

/** The states of nodes that show no transaction. */
const LOST: readonly SourceStatus["state"][] = ["unresponsive", "other-network", "invalid"];

/** A first start at a block of a node that is trusted about it. */
interface Start {
  anchor: ChainCheckpoint;
  beginning: Beginning;
}

/** A running client. */
export class Client {
  readonly #settings: Settings;
  readonly #publish: (state: State) => void;
  readonly #abort = new AbortController();
  readonly #store: ChainStore;
  /** Stops the last search for each transaction. */
  readonly #searches = new Map<string, AbortController>();
  #chain: ChainFollower | undefined;
  /** Whether the chain was read to its end once. A search before that would find nothing. */
  #isRead = false;
  #state: State;

  /** `publish` receives each new state. `before` is what an earlier client of the chain had found. */
  constructor(chain: Chain, before: State, publish: (state: State) => void) {
    this.#settings = chain.settings;
    this.#publish = publish;
    this.#store = new ChainStore(chain, (kept) => {
      if (!this.#abort.signal.aborted) this.#set(afterSave(this.#state, kept));
    });
    this.#state = before;
  }

  /** Follows the chain until `stop`. Rejects with the reason if it cannot. */
  async run(): Promise<void> {
    const { signal } = this.#abort;
    try {
      const kept = await this.#store.load();
      if (kept && (await this.#goOn(kept.length))) return;
      const start = await this.#start(signal);
      this.#state = anew(this.#state);
      this.#store.beginning = start ? start.beginning : null;
      await this.#follow(await this.#open(start?.anchor));
    } catch (thrown) {
      const isStopped = thrown instanceof RandomXError && thrown.code === "aborted";
      if (!isStopped && !signal.aborted) throw thrown;
    } finally {
      // A failure of the store must not hide another problem.
      await this.#chain?.close().catch(() => undefined);
    }
  }

  /** Goes on with what is kept. Returns `false` if that cannot be read, so that the chain has to begin anew. */
  async #goOn(kept: number): Promise<boolean> {
    this.#state = { ...this.#state, kept };
    if (await this.#follow(await this.#open(), true)) return true;
    this.#store.drop();
    const why = "The kept chain could not be read; it begins anew.";
    this.#set({ ...this.#state, warnings: { ...this.#state.warnings, kept: why } });
    return false;
  }

  async #open(anchor?: ChainCheckpoint): Promise<ChainFollower> {
    const { signal } = this.#abort;
    const { nodes, relays, network, fixedDifficulty } = this.#settings;
    const sources: ChainSource[] = [
      ...nodes.map((node) => ({ node })),
      ...relays.map((relay) => ({ relay })),
    ];
    const randomx = await engine(signal);
    this.#chain = randomx.follow(sources, {
      ...{ network, store: this.#store, anchor, signal },
      poll: network === "regtest" ? POLL.regtest : POLL.others,
      fixedDifficulty: fixedDifficulty === "" ? undefined : fixedDifficulty,
    });
    return this.#chain;
  }

  /** Ends the client. */
  stop(): void {
    this.#abort.abort();
  }

  /**
   * Looks for a transaction when the chain was read to its end, and again after each reorganisation.
   */
  async find(txid: string): Promise<void> {
    const search: Lookup = { txid, state: "searching" };
    this.#set(withLookup(this.#state, search));
    if (this.#settings.nodes.length === 0) {
      this.#set(withLookup(this.#state, { txid, state: "failed", why: NO_NODE }));
      return;
    }
    if (!this.#chain || !this.#isRead) return;
    // In WebKit a search waits for those before it, and a node may be silent for half a minute.
    this.#searches.get(txid)?.abort();
    const stop = new AbortController();
    this.#searches.set(txid, stop);
    let outcome: Lookup;
    try {
      const found = await this.#chain.find(txid, { signal: stop.signal });
      outcome = found ? { txid, state: "found", height: found.height } : this.#missing(txid);
    } catch (thrown) {
      outcome = { txid, state: "failed", why: failure(thrown) };
    }
    // A newer search for the transaction may have replaced this one, or five others.
    const isWanted = this.#state.lookups.includes(search) && !this.#abort.signal.aborted;
    if (isWanted) this.#set(withLookup(this.#state, outcome));
  }

  /** Returns the outcome of a search that has found nothing: nodes may not have been asked. */
  #missing(txid: string): Lookup {
    const nodes = this.#chain?.sources.filter(({ kind }) => kind === "node") ?? [];
    if (nodes.every(({ state }) => LOST.includes(state))) {
      return { txid, state: "failed", why: NO_ANSWER };
    }
    const why = `was not found: no node showed it in ${searchedBlocks(this.#state)}.`;
    return { txid, state: "missing", why };
  }

  /** Returns `false` if the chain `isKept` and cannot be read. */
  async #follow(chain: ChainFollower, isKept = false): Promise<boolean> {
    const { tip, sources } = chain;
    const { beginning } = this.#store;
    this.#set({ ...this.#state, ...(tip ? { tip } : {}), sources, isSynced: false, beginning });
    for await (const event of chain) {
      // A failed save has another code.
      const isRefused = event.type === "failure" && event.error.code === "invalid-argument";
      if (isRefused && event.part === "store" && isKept) return false;
      // A later save succeeded before this event was read.
      if (event.type === "failure" && event.part === "store" && this.#store.isSaved) continue;
      this.#set({ ...after(this.#state, event, Date.now()), sources: chain.sources });
      const { lookups } = this.#state;
      if (event.type === "synced" && !this.#isRead) {
        this.#isRead = true;
        this.#findAll(lookups.filter(({ state }) => state === "searching"));
      }
      if (event.type === "reorg") this.#findAll(lookups);
    }
    return true;
  }

  #findAll(lookups: readonly Lookup[]): void {
    for (const { txid } of lookups) void this.find(txid);
  }

  #set(state: State): void {
    this.#state = state;
    this.#publish(state);
  }

  /**
   * Returns where a first start begins, if it is not where the client would begin itself. The nodes are
   * asked in order until one answers. Rejects with the failure of each if none does.
   */
  async #start(signal: AbortSignal): Promise<Start | undefined> {
    const { nodes, network, last } = this.#settings;
    if (last === 0) return undefined;
    let failed: RandomXError | undefined;
    for (const url of nodes) {
      try {
        const node = new MoneroNode(url);
        const { height: count, nettype } = await node.getInfo({ signal });
        const its = nettype === "fakechain" ? "regtest" : nettype;
        if (its !== network) throw new RandomXError("node-invalid", `its network is ${its}`);
        const height = count - 1 - last;
        if (height <= 0) return undefined;
        const anchor = await node.getCheckpoint(height, { signal });
        return { anchor, beginning: { node: url, height } };
      } catch (thrown) {
        if (signal.aborted || !(thrown instanceof RandomXError)) throw thrown;
        const earlier = failed ? `${failed.message}; ` : "";
        failed = new RandomXError(thrown.code, `${earlier}${url}: ${thrown.message}`);
      }
    }
    if (failed) throw failed;
    return undefined;
  }
}
