/** The places for caches, 256 MiB each, and which key's cache is in which. */
import type { Front } from "./ahead.js";
import type { Member } from "./crew.js";
import { equal } from "./job.js";
import type { Cache } from "./protocol.js";

/** A place for one key's cache after another. */
export interface Slot {
  /** What workers know it by. */
  readonly index: number;
  /** Its memory, once it has one; a lone worker keeps its own. */
  memory: { shared: WebAssembly.Memory | undefined } | undefined;
  /** Where its first fill is, while nobody goes ahead of it. */
  front: Front | undefined;
  /** The key whose cache is held or being filled. */
  key: Uint8Array | undefined;
  cache: Cache | undefined;
  /** Who fills it. */
  filling: Member | undefined;
  /** Workers that fill it or hash with it. */
  users: number;
  /** When it was last given work, as a count of such times. */
  usedAt: number;
}

/** As many places as were asked for. */
export class Slots {
  readonly #slots: readonly Slot[];
  #uses = 0;

  constructor(count: number) {
    this.#slots = Array.from({ length: count }, (_, index) => ({
      index,
      memory: undefined,
      front: undefined,
      key: undefined,
      cache: undefined,
      filling: undefined,
      users: 0,
      usedAt: 0,
    }));
  }

  /** All of them. */
  get all(): readonly Slot[] {
    return this.#slots;
  }

  /** Where a key's cache is held or being filled. */
  of(key: Uint8Array): Slot | undefined {
    return this.#slots.find((slot) => slot.key && equal(slot.key, key));
  }

  /** One for another key: an empty one, else the one that has been without work for longest. */
  free(): Slot | undefined {
    const [first] = this.#slots
      .filter(({ users }) => users === 0)
      .sort((a, b) => Number(Boolean(a.key)) - Number(Boolean(b.key)) || a.usedAt - b.usedAt);
    return first;
  }

  /** A worker begins to use a slot. */
  use(slot: Slot): void {
    slot.users += 1;
    slot.usedAt = this.#uses += 1;
  }

  /** Forgets what is in a slot, and with `memory` also where it is. */
  empty(slot: Slot, { memory }: { memory: boolean }): void {
    slot.key = undefined;
    slot.cache = undefined;
    if (memory) slot.memory = undefined;
  }
}
