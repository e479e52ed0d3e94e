/**
 * The tabs with this view: one follows the chain, and the others listen to it. A lock decides which.
 * When that tab closes, the browser gives the lock to another, which goes on from what is kept.
 */
import { failure } from "../../shell/words.js";
import { Client } from "./client.js";
import { readKept, writeKept, type Kept, type Settings } from "./settings.js";
import type { State } from "./state.js";
import { forgetChains } from "./store.js";

/** What this tab does. */
export type Role = "idle" | "following" | "listening";

/** Receives what the view shows. */
export interface Listener {
  role: (role: Role) => void;
  /** The state of the followed chain; nothing when it was forgotten. */
  state: (state: State | undefined) => void;
  /** The chain could not be followed any longer. */
  failed: (words: string) => void;
}

/** Messages between tabs. */
type Message =
  | { type: "hello" }
  | { type: "state"; state: State }
  | { type: "failed"; words: string }
  /** The kept settings have changed. They are sent, because another tab may still read the old ones. */
  | { type: "changed"; kept: Kept | undefined }
  | { type: "find"; txid: string };

const NAME = "randomx-follow";

/** The least time between two states for other tabs, in milliseconds. */
const PAUSE_MS = 200;

/** This tab among the others. */
export class Tabs {
  readonly #listener: Listener;
  readonly #channel = new BroadcastChannel(NAME);
  readonly #closing = new AbortController();
  #kept: Kept | undefined = readKept();
  #client: Client | undefined;
  #state: State | undefined;
  #isWaiting = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(listener: Listener) {
    this.#listener = listener;
    this.#channel.onmessage = ({ data }: MessageEvent<Message>) => {
      this.#hear(data);
    };
  }

  /** Goes on with what this browser keeps. */
  begin(): void {
    if (this.#kept?.isOn) this.#join();
  }

  /** What this browser keeps. */
  get kept(): Kept | undefined {
    return this.#kept;
  }

  /** Follows a chain, in the tab that does, instead of an earlier one. */
  start(settings: Settings): void {
    this.#change({ settings, isOn: true });
  }

  /** Ends the following in all tabs. What was found stays. */
  stop(): void {
    if (this.#kept) this.#change({ ...this.#kept, isOn: false });
  }

  /** Ends the following, and removes the settings and all chains that this browser keeps. */
  forget(): void {
    this.#change(undefined);
    this.#show(undefined);
    // The tab that follows may be saving until its client has ended.
    void this.#alone(forgetChains);
  }

  /** Looks for a transaction in the followed chain. */
  find(txid: string): void {
    if (this.#client) void this.#client.find(txid);
    else this.#channel.postMessage({ type: "find", txid } satisfies Message);
  }

  /** Leaves: another tab follows now. */
  close(): void {
    this.#closing.abort();
    this.#client?.stop();
    clearTimeout(this.#timer);
    this.#channel.close();
  }

  #change(kept: Kept | undefined): void {
    this.#kept = kept;
    writeKept(kept);
    this.#channel.postMessage({ type: "changed", kept } satisfies Message);
    this.#client?.stop();
    if (kept?.isOn) this.#join();
    else this.#listener.role("idle");
  }

  #hear(message: Message): void {
    switch (message.type) {
      case "hello":
        if (this.#client) this.#tell();
        break;
      case "state":
        // A state may arrive that was sent before the chain was forgotten.
        if (!this.#client && this.#kept) this.#show(message.state);
        break;
      case "failed":
        if (!this.#client) this.#listener.failed(message.words);
        break;
      case "find":
        void this.#client?.find(message.txid);
        break;
      case "changed":
        this.#kept = message.kept;
        this.#client?.stop();
        if (!this.#kept) this.#show(undefined);
        if (this.#kept?.isOn) this.#join();
        else this.#listener.role("idle");
        break;
    }
  }

  /** Waits for the lock, and follows when this tab has it. Until then it listens. */
  #join(): void {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    this.#listener.role("listening");
    this.#channel.postMessage({ type: "hello" } satisfies Message);
    void this.#alone(() => this.#lead(), { signal: this.#closing.signal })
      .catch(() => undefined)
      .finally(() => {
        this.#isWaiting = false;
      });
  }

  /** Does some work while no other tab follows, if this page has locks: insecure addresses have none. */
  async #alone(work: () => Promise<void>, options: LockOptions = {}): Promise<void> {
    const locks = (navigator as { locks?: LockManager }).locks;
    // Two tabs would both follow there, which is harmless.
    if (locks) await locks.request(NAME, options, work);
    else await work();
  }

  /** Follows as long as the settings ask for it, and again when they change. */
  async #lead(): Promise<void> {
    while (this.#kept?.isOn && !this.#closing.signal.aborted) {
      const { settings } = this.#kept;
      const before = isSame(settings, this.#led) ? this.#state : undefined;
      this.#led = settings;
      this.#client = new Client(settings, before, (state) => {
        // It was forgotten, or other settings were chosen, and the client has not ended yet.
        if (!isSame(settings, this.#kept?.settings)) return;
        this.#show(state);
        this.#timer ??= setTimeout(() => {
          this.#timer = undefined;
          this.#tell();
        }, PAUSE_MS);
      });
      this.#listener.role("following");
      try {
        await this.#client.run();
      } catch (thrown) {
        const words = failure(thrown);
        this.#kept = { settings, isOn: false };
        writeKept(this.#kept);
        this.#listener.role("idle");
        this.#listener.failed(words);
        this.#channel.postMessage({ type: "failed", words } satisfies Message);
      }
      this.#client = undefined;
    }
  }

  /** The settings of the last client. */
  #led: Settings | undefined;

  #show(state: State | undefined): void {
    this.#state = state;
    this.#listener.state(state);
  }

  #tell(): void {
    if (this.#closing.signal.aborted || !this.#state) return;
    this.#channel.postMessage({ type: "state", state: this.#state } satisfies Message);
  }
}

function isSame(one: Settings, other: Settings | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
