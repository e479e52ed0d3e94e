/** Runs the chain client of this tab, until it is stopped. */
import {
  IndexedDBStore,
  MoneroNode,
  RandomXError,
  type ChainCheckpoint,
  type ChainFollower,
  type ChainSource,
} from "../../../wasm/js/index.js";
import { engine } from "../../engine/engine.js";
import { failure } from "../../shell/words.js";
import { storeName, type Settings } from "./settings.js";
import { after, initial, withLookup, type State } from "./state.js";

/** Seconds between questions for new blocks. A chain for tests grows when its owner likes. */
const POLL = { regtest: 1, others: 20 };

/** A running client. */
export class Client {
  readonly #settings: Settings;
  readonly #publish: (state: State) => void;
  readonly #abort = new AbortController();
  readonly #store: IndexedDBStore;
  #chain: ChainFollower | undefined;
  #state: State;

  /** `publish` receives each new state. `before` is what an earlier client of the chain had found. */
  constructor(settings: Settings, before: State | undefined, publish: (state: State) => void) {
    this.#settings = settings;
    this.#publish = publish;
    this.#store = new IndexedDBStore(storeName(settings));
    this.#state = before ?? initial();
  }

  /** Follows the chain until `stop`. Rejects with the reason if it cannot. */
  async run(): Promise<void> {
    const { signal } = this.#abort;
    try {
      const kept = await this.#store.load();
      const anchor = kept ? undefined : await this.#anchor(signal);
      const { nodes, relays, network, fixedDifficulty } = this.#settings;
      const sources: ChainSource[] = [
        ...nodes.map((node) => ({ node })),
        ...relays.map((relay) => ({ relay })),
      ];
      const randomx = await engine();
      signal.throwIfAborted();
      this.#chain = randomx.follow(sources, {
        ...{ network, store: this.#store, anchor, signal },
        poll: network === "regtest" ? POLL.regtest : POLL.others,
        fixedDifficulty: fixedDifficulty === "" ? undefined : fixedDifficulty,
      });
      await this.#follow(this.#chain);
    } catch (thrown) {
      const isStopped = thrown instanceof RandomXError && thrown.code === "aborted";
      if (!isStopped && !signal.aborted) throw thrown;
    } finally {
      await this.#chain?.close();
    }
  }

  /** Ends the client. */
  stop(): void {
    this.#abort.abort();
  }

  /** Looks for a transaction, and again after each reorganisation. */
  async find(txid: string): Promise<void> {
    this.#set(withLookup(this.#state, { txid, state: "searching" }));
    try {
      const found = await this.#chain?.find(txid, { signal: this.#abort.signal });
      const lookup = found
        ? ({ txid, state: "found", height: found.height } as const)
        : ({ txid, state: "missing" } as const);
      this.#set(withLookup(this.#state, lookup));
    } catch (thrown) {
      if (this.#abort.signal.aborted) return;
      this.#set(withLookup(this.#state, { txid, state: "failed", why: failure(thrown) }));
    }
  }

  async #follow(chain: ChainFollower): Promise<void> {
    const { tip, sources } = chain;
    this.#set({ ...this.#state, ...(tip ? { tip } : {}), sources, isSynced: false });
    for await (const event of chain) {
      // Before the state is read: a lookup may end while the store is read.
      const stored = event.type === "synced" ? (await this.#store.load())?.length : undefined;
      const next = after(this.#state, event, Date.now());
      const kept = stored ?? next.kept;
      this.#set({ ...next, sources: chain.sources, ...(kept === undefined ? {} : { kept }) });
      if (event.type === "reorg") {
        for (const { txid } of this.#state.lookups) void this.find(txid);
      }
    }
  }

  #set(state: State): void {
    this.#state = state;
    this.#publish(state);
  }

  /** Returns where a first start begins, if it is not where the client would begin itself. */
  async #anchor(signal: AbortSignal): Promise<ChainCheckpoint | undefined> {
    const { nodes, last } = this.#settings;
    const [url] = nodes;
    if (url === undefined || last === 0) return undefined;
    const node = new MoneroNode(url);
    const { height } = await node.getInfo({ signal });
    const first = height - 1 - last;
    return first > 0 ? node.getCheckpoint(first, { signal }) : undefined;
  }
}

/** Removes what this browser keeps of a chain. */
export async function forget(settings: Settings): Promise<void> {
  await new Promise((resolve) => {
    const request = indexedDB.deleteDatabase(storeName(settings));
    request.onsuccess = resolve;
    request.onerror = resolve;
    request.onblocked = resolve;
  });
}
