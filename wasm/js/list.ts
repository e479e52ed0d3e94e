/** An entry of one list at a time. */
export interface Linked<T> {
  previous: T | undefined;
  next: T | undefined;
}

/**
 * A doubly linked list, whose entries can be removed anywhere in constant time. A `Set` steps over
 * all that was deleted before its first entry, each time that this is read.
 */
export class List<T extends Linked<T>> {
  #first: T | undefined;
  #last: T | undefined;

  /** The first entry. */
  get first(): T | undefined {
    return this.#first;
  }

  /** Adds an entry at the end. */
  add(entry: T): void {
    this.insert(entry, this.#last);
  }

  /** Adds an entry after another one of this list, or at the start. */
  insert(entry: T, after: T | undefined): void {
    const next = after ? after.next : this.#first;
    entry.previous = after;
    entry.next = next;
    if (after) after.next = entry;
    else this.#first = entry;
    if (next) next.previous = entry;
    else this.#last = entry;
  }

  /** Removes an entry, which must be in this list. */
  remove(entry: T): void {
    const { previous, next } = entry;
    if (previous) previous.next = next;
    else this.#first = next;
    if (next) next.previous = previous;
    else this.#last = previous;
    entry.previous = entry.next = undefined;
  }
}
