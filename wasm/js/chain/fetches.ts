/** The callers' `fetch`es, which a follower calls for its worker. */
import { bodyReader, type BodyReader } from "../body.js";
import type { FromChain, RemoteRequest, ToChain } from "./protocol.js";

/** A request in flight. */
interface Open {
  stop: AbortController;
  reader: BodyReader | undefined;
}

/** The messages of the worker about requests. */
export type RemoteCall = Extract<FromChain, { kind: "fetch" | "more" | "cancel" }>;

/** Sends requests for the worker. It reads no more of an answer than the worker takes. */
export class Fetches {
  readonly #fetches: readonly (typeof globalThis.fetch | undefined)[];
  readonly #post: (message: ToChain) => void;
  readonly #open = new Map<number, Open>();

  constructor(
    fetches: readonly (typeof globalThis.fetch | undefined)[],
    post: (message: ToChain) => void,
  ) {
    this.#fetches = fetches;
    this.#post = post;
  }

  /** Takes a message from the worker. */
  receive(message: RemoteCall): void {
    if (message.kind === "fetch")
      void this.#guard(message.request.id, this.#begin(message.request));
    else if (message.kind === "more") void this.#guard(message.id, this.#more(message.id));
    else this.#end(message.id);
  }

  /** Aborts all requests. */
  close(): void {
    for (const id of [...this.#open.keys()]) this.#end(id);
  }

  async #begin({ id, source, url, body }: RemoteRequest): Promise<void> {
    const fetch = this.#fetches[source] ?? globalThis.fetch;
    const open: Open = { stop: new AbortController(), reader: undefined };
    this.#open.set(id, open);
    const response = await fetch(url, {
      ...(body === undefined ? {} : { method: "POST", body }),
      redirect: "error",
      credentials: "omit",
      referrerPolicy: "no-referrer",
      signal: open.stop.signal,
    });
    open.reader = response.body ? bodyReader(response.body) : undefined;
    if (this.#open.has(id)) {
      const length = response.headers.get("Content-Length");
      this.#post({ kind: "response", id, status: response.status, length });
    } else {
      open.reader?.cancel();
    }
  }

  async #more(id: number): Promise<void> {
    const open = this.#open.get(id);
    if (!open) return;
    const piece = await open.reader?.read();
    if (!this.#open.has(id)) return;
    if (!piece) this.#open.delete(id);
    // A message copies the whole buffer of a view.
    this.#post({ kind: "bytes", id, bytes: piece?.slice() });
  }

  async #guard(id: number, work: Promise<void>): Promise<void> {
    try {
      await work;
    } catch (error) {
      if (!this.#open.has(id)) return;
      this.#end(id);
      const message = error instanceof Error ? error.message : "the request failed";
      this.#post({ kind: "no-response", id, message });
    }
  }

  #end(id: number): void {
    const open = this.#open.get(id);
    this.#open.delete(id);
    open?.stop.abort();
    open?.reader?.cancel();
  }
}
