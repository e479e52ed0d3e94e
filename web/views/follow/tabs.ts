/**
 * The tabs with this view: one follows the chain, and the others listen to it. A lock decides which.
 * When that tab closes, the browser gives the lock to another, which goes on from what is kept.
 */
import { failure } from "../../shell/words.js";
import { Client } from "./client.js";
import {
  newMemory,
  readKept,
  writeKept,
  type Chain,
  type Kept,
  type Settings,
} from "./settings.js";
import { inherited, initial, withLookup, type State } from "./state.js";
import { isBlocked, removeChains } from "./store.js";

/** The role of this tab. It is `waiting` until it may follow, or until another tab reports that it follows. */
export type Role = "idle" | "waiting" | "following" | "listening";

/** Receives what the view shows. */
export interface Listener {
  role: (role: Role) => void;
  /** The state of the followed chain; nothing when it was forgotten. */
  state: (state: State | undefined) => void;
  /** The chain cannot be followed any more, and the words say why. Without words it is followed again. */
  failed: (words: string) => void;
}

/** Messages between tabs. */
type Message =
  | { type: "hello" }
  | ({ type: "state" } & Seen)
  /** The chain cannot be followed. The message about the kept settings came before. */
  | { type: "failed"; words: string }
  /** The kept settings have changed. They are sent, because another tab may still read the old ones. */
  | { type: "changed"; kept: Kept | undefined }
  | { type: "find"; txid: string };

/** A chain and its state. */
interface Seen {
  chain: Chain;
  state: State;
}

const NAME = "randomx-follow";

/** The least time between two states for other tabs, in milliseconds. */
const PAUSE_MS = 200;

/** This tab among the others. */
export class Tabs {
  readonly #listener: Listener;
  readonly #channel = openChannel();
  readonly #closing = new AbortController();
  #kept: Kept | undefined = readKept();
  #client: Client | undefined;
  #seen: Seen | undefined;
  /** Whether this tab follows, or waits until it may. */
  #isJoined = false;
  #isKeeping = true;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(listener: Listener) {
    this.#listener = listener;
    this.#channel?.addEventListener("message", ({ data }: MessageEvent<Message>) => {
      this.#receive(data);
    });
  }

  /** Goes on with what this browser keeps. */
  begin(): void {
    if (this.#kept?.isOn) this.#adopt(this.#kept);
    else if (!this.#kept) {
      const { signal } = this.#closing;
      this.#alone(() => this.#removeLost(), { signal }).catch(() => undefined);
    }
  }

  /** The chain that was chosen last, which this browser keeps if it can. */
  get kept(): Kept | undefined {
    return this.#kept;
  }

  /** Whether the browser let this tab keep its last choice. */
  get isKeeping(): boolean {
    return this.#isKeeping;
  }

  /** Follows a chain, in the tab that does, instead of an earlier one. */
  start(settings: Settings): void {
    this.#change({ settings, memory: this.#kept?.memory ?? newMemory(), isOn: true });
  }

  /** Ends the following in all tabs. The state stays. */
  stop(): void {
    if (this.#kept) this.#change({ ...this.#kept, isOn: false });
  }

  /** Ends the following, and removes the settings and all chains that this browser keeps. */
  forget(): void {
    const memory = this.#kept?.memory;
    this.#change(undefined);
    // The tab that follows may be saving until its client has ended.
    this.#alone(() => removeChains((other) => other === memory)).catch((thrown: unknown) => {
      this.#listener.failed(failure(thrown));
    });
  }

  /** Looks for a transaction in the followed chain. */
  find(txid: string): void {
    this.#post({ type: "find", txid });
    this.#look(txid);
  }

  /** Looks for a transaction, or notes it for the client that is about to begin. */
  #look(txid: string): void {
    if (this.#client) void this.#client.find(txid);
    else if (this.#seen) {
      const { chain, state } = this.#seen;
      this.#show({ chain, state: withLookup(state, { txid, state: "searching" }) });
    }
  }

  /** Leaves: another tab follows now. */
  close(): void {
    this.#closing.abort();
    this.#client?.stop();
    clearTimeout(this.#timer);
    this.#channel?.close();
  }

  #change(kept: Kept | undefined): void {
    this.#isKeeping = writeKept(kept);
    this.#post({ type: "changed", kept });
    this.#adopt(kept);
  }

  /** Does from now on what was chosen. */
  #adopt(kept: Kept | undefined): void {
    this.#kept = kept;
    this.#client?.stop();
    if (!kept) this.#show(undefined);
    if (!kept?.isOn) {
      this.#listener.role("idle");
      return;
    }
    this.#listener.failed("");
    // The state of another chain does not apply. This chain may have grown.
    this.#show({ chain: kept, state: this.#known(kept) });
    this.#join();
  }

  #receive(message: Message): void {
    switch (message.type) {
      case "hello":
        if (this.#client) this.#sendState();
        break;
      case "state":
        // It may have been sent before the chain was forgotten, or another one chosen.
        if (this.#client || !isSame(message.chain, this.#kept)) break;
        if (this.#kept?.isOn) this.#listener.role("listening");
        this.#show(message);
        break;
      case "failed":
        // A message about a new start may have arrived before this one.
        if (!this.#kept?.isOn) this.#listener.failed(message.words);
        break;
      case "find":
        this.#look(message.txid);
        break;
      case "changed":
        this.#adopt(message.kept);
        break;
    }
  }

  /** Waits for the lock, and follows when this tab has it. Until then it listens. */
  #join(): void {
    this.#listener.role(this.#client ? "following" : "waiting");
    if (this.#isJoined) return;
    this.#isJoined = true;
    this.#post({ type: "hello" });
    const led = this.#alone(() => this.#lead(), { signal: this.#closing.signal }).then(
      () => true,
      () => false,
    );
    void led.then((hasLed) => {
      this.#isJoined = false;
      // The visitor may have started again while the browser took the lock back.
      if (hasLed && this.#kept?.isOn && !this.#closing.signal.aborted) this.#join();
    });
  }

  /**
   * Does some work while no other tab follows, if this page has locks: insecure addresses have none, and a browser that
   * blocks a site's data refuses them.
   */
  async #alone(work: () => Promise<void>, options: LockOptions = {}): Promise<void> {
    const locks = (navigator as { locks?: LockManager }).locks;
    // Without them two tabs would both follow, which is harmless.
    if (!locks) return work();
    let hasBegun = false;
    const begin = (): Promise<void> => {
      hasBegun = true;
      return work();
    };
    return locks.request(NAME, options, begin).catch((thrown: unknown) => {
      if (hasBegun || !isBlocked(thrown)) throw thrown;
      return work();
    });
  }

  /** Follows as long as the settings ask for it, and again when they change. */
  async #lead(): Promise<void> {
    for (let kept = this.#kept; kept?.isOn; kept = this.#kept) {
      await this.#removeLost().catch(() => undefined);
      if (this.#closing.signal.aborted) return;
      if (kept === this.#kept) await this.#follow(kept);
    }
  }

  /** Follows a chain until its client ends. */
  async #follow({ settings, memory }: Kept): Promise<void> {
    const chain = { settings, memory };
    this.#client = new Client(chain, this.#known(chain), (state) => {
      // It was forgotten, or another one was chosen, and the client has not ended yet.
      if (!isSame(chain, this.#kept)) return;
      this.#show({ chain, state });
      this.#timer ??= setTimeout(() => {
        this.#timer = undefined;
        this.#sendState();
      }, PAUSE_MS);
    });
    this.#listener.role("following");
    try {
      await this.#client.run();
    } catch (thrown) {
      // Unless the visitor chose something else while the client ended.
      if (isSame(chain, this.#kept)) this.#fail(chain, failure(thrown));
    }
    this.#client = undefined;
  }

  /** Returns what earlier clients have found of a chain. */
  #known(chain: Chain): State {
    return isSame(chain, this.#seen?.chain) && this.#seen ? inherited(this.#seen.state) : initial();
  }

  /** Ends the following in all tabs: another would fail for the same reason, one after another. */
  #fail(chain: Chain, words: string): void {
    this.#change({ ...chain, isOn: false });
    this.#listener.failed(words);
    this.#post({ type: "failed", words });
  }

  /** Removes the chains that a page has left that was closed right after Forget. No tab may follow meanwhile. */
  async #removeLost(): Promise<void> {
    // The message about what another tab keeps may not have arrived yet.
    const kept = [this.#kept, readKept()].map((kept) => kept?.memory);
    await removeChains((memory) => !kept.includes(memory));
  }

  #show(seen: Seen | undefined): void {
    this.#seen = seen;
    this.#listener.state(seen?.state);
  }

  #sendState(): void {
    if (this.#seen) this.#post({ type: "state", ...this.#seen });
  }

  #post(message: Message): void {
    if (!this.#closing.signal.aborted) this.#channel?.postMessage(message);
  }
}

/** Opens the channel between the tabs. A browser that blocks the site's data refuses it, and each tab follows alone. */
function openChannel(): BroadcastChannel | undefined {
  try {
    return new BroadcastChannel(NAME);
  } catch {
    return undefined;
  }
}

function isSame(one: Chain, other: Chain | undefined): boolean {
  const text = (chain?: Chain): string => JSON.stringify([chain?.settings, chain?.memory]);
  return text(one) === text(other);
}
