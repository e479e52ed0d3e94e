/** Events on their way to the caller, bounded in memory. */
import type { ChainBranch, ChainEvent } from "./types.js";

/** The most bytes of waiting events: evidence and the ids of reverted blocks. */
const MAX_BYTES = 8 << 20;

/** The rough size of an event without its lists, and of a block in a list. */
const EVENT_BYTES = 512;
const BLOCK_BYTES = 192;

interface Waiting {
  resolve: (result: IteratorResult<ChainEvent, void>) => void;
  reject: (error: Error) => void;
}

/**
 * A queue of events. A newer tip, progress, `synced` or state of a source replaces an older one that is
 * still unread. If the reader is too slow for the rest, the oldest events are dropped and counted.
 */
export class EventQueue {
  readonly #events: ChainEvent[] = [];
  readonly #waiting: Waiting[] = [];
  #bytes = 0;
  #missed = 0;
  #end: { error: Error | undefined } | undefined;

  /** Adds an event. */
  push(event: ChainEvent): void {
    if (this.#end) return;
    const waiting = this.#waiting.shift();
    if (waiting) {
      waiting.resolve({ done: false, value: event });
      return;
    }
    const last = this.#events.findLastIndex(
      // The tip that a reorganisation reverts stays before it.
      (other) => replaces(event, other) || (event.type === "tip" && other.type.endsWith("reorg")),
    );
    const older = this.#events[last];
    if (older && replaces(event, older)) this.#remove(last);
    this.#events.push(event);
    this.#bytes += bytes(event);
    while (this.#bytes > MAX_BYTES && this.#events.length > 1) {
      this.#remove(0);
      this.#missed += 1;
    }
  }

  /** Returns the next event, or the end. */
  next(): Promise<IteratorResult<ChainEvent, void>> {
    if (this.#missed > 0) {
      const value: ChainEvent = { type: "missed", count: this.#missed };
      this.#missed = 0;
      return Promise.resolve({ done: false, value });
    }
    const event = this.#events[0];
    if (event) {
      this.#remove(0);
      return Promise.resolve({ done: false, value: event });
    }
    if (this.#end) {
      const { error } = this.#end;
      // An error is thrown once.
      this.#end.error = undefined;
      return error === undefined
        ? Promise.resolve({ done: true, value: undefined })
        : Promise.reject(error);
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
    });
  }

  /** Ends the queue, with an error or without. Unread events can still be read. */
  end(error?: Error): void {
    if (this.#end) return;
    this.#end = { error };
    for (const { resolve, reject } of this.#waiting.splice(0)) {
      if (this.#end.error) reject(this.#end.error);
      else resolve({ done: true, value: undefined });
      this.#end.error = undefined;
    }
  }

  /** Drops the unread events. */
  clear(): void {
    this.#events.length = 0;
    this.#bytes = 0;
    this.#missed = 0;
  }

  #remove(index: number): void {
    const [removed] = this.#events.splice(index, 1);
    if (removed) this.#bytes -= bytes(removed);
  }
}

/** Whether an event makes an older one of no interest. */
function replaces(event: ChainEvent, older: ChainEvent): boolean {
  if (event.type === "source" && older.type === "source") {
    // A proof is kept.
    return event.source.index === older.source.index && !older.evidence;
  }
  return event.type === older.type && ["tip", "progress", "synced"].includes(event.type);
}

function bytes(event: ChainEvent): number {
  const branch = ({ blocks }: ChainBranch): number => BLOCK_BYTES * blocks.length;
  switch (event.type) {
    case "reorg":
    case "deep-reorg":
      return EVENT_BYTES + branch(event.reverted) + branch(event.adopted);
    case "disagreement":
      return EVENT_BYTES + branch(event.ours) + branch(event.theirs) + event.evidence.length;
    case "source":
      return EVENT_BYTES + (event.evidence?.length ?? 0);
    default:
      return EVENT_BYTES;
  }
}
