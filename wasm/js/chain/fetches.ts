/** The requests that a follower sends for its worker: by the callers' own `fetch`es, and in WebKit all. */
import { bodyReader, type BodyReader } from "../body.js";
import { READS_WITHOUT_END } from "../flood.js";
import { requestOf, send, type Transport } from "../monero/transport.js";
import { Pieces } from "./pieces.js";
import type { FromChain, RemoteRequest, ToChain } from "./protocol.js";

/** Longer than the worker waits for any answer, in milliseconds. */
const LONG = 2 ** 31 - 1;

/** A request in flight. */
interface Open {
  stop: AbortController;
  reader: BodyReader | undefined;
}

/** The messages of the worker about requests. */
export type RemoteCall = Extract<FromChain, { kind: "fetch" | "more" | "cancel" }>;

/** Sends requests for the worker. It reads no more of an answer than the worker takes, or than its limit. */
export class Fetches {
  readonly #transports: readonly Transport[];
  readonly #post: (message: ToChain) => void;
  readonly #open = new Map<number, Open>();

  constructor(
    fetches: readonly (typeof globalThis.fetch | undefined)[],
    post: (message: ToChain) => void,
  ) {
    this.#transports = fetches.map((fetch) => ({
      timeout: LONG,
      fetch: fetch ?? globalThis.fetch.bind(globalThis),
    }));
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

  async #begin(request: RemoteRequest): Promise<void> {
    const { id, source, url, body } = request;
    const transport = this.#transports[source];
    if (!transport) throw new Error("there is no such source");
    const open: Open = { stop: new AbortController(), reader: undefined };
    this.#open.set(id, open);
    if (READS_WITHOUT_END) {
      await this.#whole(transport, request, open.stop.signal);
      return;
    }
    const response = await transport.fetch(url, requestOf(body, open.stop.signal));
    open.reader = response.body ? bodyReader(response.body) : undefined;
    if (this.#open.has(id)) {
      const length = response.headers.get("Content-Length");
      this.#post({ kind: "response", id, status: response.status, length });
    } else {
      open.reader?.cancel();
    }
  }

  /** Reads a whole answer, because nothing can hold it back until the worker takes it. */
  async #whole(
    transport: Transport,
    { id, url, body, limit }: RemoteRequest,
    signal: AbortSignal,
  ): Promise<void> {
    const question = { label: "the request", url: new URL(url), body, limit };
    const outcome = await send(transport, question, () => new Pieces(), signal);
    if ("error" in outcome) throw outcome.error;
    if (!this.#open.delete(id)) return;
    const { value: bytes } = outcome;
    this.#post({ kind: "response", id, status: 200, length: String(bytes.length), bytes });
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
