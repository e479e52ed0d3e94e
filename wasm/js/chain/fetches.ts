/** Sends requests for the worker: those of sources with their own `fetch`, and in WebKit all. */
import type { BodyReader } from "../body.js";
import { BUFFERS_WITHOUT_LIMIT } from "../flood.js";
import { Exchange } from "../monero/exchange.js";
import { send, type Sink, type Transport } from "../monero/transport.js";
import type { FromChain, RemoteRequest, ToChain } from "./protocol.js";

/** Milliseconds without a timeout: the worker has its own, and cancels. */
const LONG = 2 ** 31 - 1;

/** A request in flight. */
interface Open {
  /** Gives up the rest. */
  end: () => void;
  reader: BodyReader | undefined;
}

/** The messages of the worker about requests. */
export type RemoteCall = Extract<FromChain, { kind: "fetch" | "more" | "cancel" }>;

/** Reads an answer as the worker asks for it. In WebKit, reads the whole answer at once, up to its limit. */
export class Fetches {
  readonly #transports: readonly Transport[];
  readonly #post: (message: ToChain, transfer?: ArrayBuffer[]) => void;
  readonly #open = new Map<number, Open>();

  constructor(
    fetches: readonly (typeof globalThis.fetch | undefined)[],
    post: (message: ToChain, transfer?: ArrayBuffer[]) => void,
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
    const open: Open = { end: () => undefined, reader: undefined };
    this.#open.set(id, open);
    const transport = this.#transports[source];
    if (!transport) throw new Error(`source: there is no source ${source}`);
    if (BUFFERS_WITHOUT_LIMIT) {
      const stop = new AbortController();
      open.end = () => {
        stop.abort();
      };
      await this.#whole(transport, request, stop.signal);
      return;
    }
    const exchange = new Exchange(transport.fetch, url, body);
    open.end = () => {
      exchange.giveUp();
    };
    const response = await exchange.response;
    if (!this.#open.has(id)) return;
    open.reader = response.body ? exchange.read(response.body) : undefined;
    const length = response.headers.get("Content-Length");
    this.#post({ kind: "response", id, status: response.status, length });
  }

  /** Reads a whole answer, because nothing can hold it back until the worker takes it. */
  async #whole(
    transport: Transport,
    { id, url, body, label, limit }: RemoteRequest,
    signal: AbortSignal,
  ): Promise<void> {
    const question = { label, url: new URL(url), body, limit };
    const outcome = await send(transport, question, keepAll, signal);
    if (!this.#open.delete(id)) return;
    if ("error" in outcome) {
      const { error, again } = outcome;
      const { code, message } = error;
      this.#post({ kind: "no-response", id, message, failure: { code, again } });
      return;
    }
    const { value: pieces } = outcome;
    const length = String(pieces.reduce((sum, piece) => sum + piece.length, 0));
    const transfer = [...new Set(pieces.map(({ buffer }) => buffer))];
    this.#post({ kind: "response", id, status: 200, length, pieces }, transfer);
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
    open?.end();
  }
}

/** Keeps the pieces of an answer without copies: {@link send} does not reuse those that it reads at once. */
function keepAll(): Sink<Uint8Array<ArrayBuffer>[]> {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  return {
    push: (piece) => {
      pieces.push(piece as Uint8Array<ArrayBuffer>);
    },
    end: () => pieces,
  };
}
