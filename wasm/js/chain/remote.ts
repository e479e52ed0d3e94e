/** A `fetch` for the worker that sends requests through the follower's thread. */
import { RandomXError } from "../errors.js";
import { ASKED, type Options } from "../monero/exchange.js";
import { Failed } from "../monero/transport.js";
import type { FromChain, RemoteRequest, ToChain } from "./protocol.js";

/** An answer that the worker reads. */
interface Open {
  begin: (response: Response) => void;
  fail: (error: Error) => void;
  /** The pending read of the body. */
  take: ((bytes: Uint8Array | undefined) => void) | undefined;
}

/** The messages that answer requests. */
export type RemoteAnswer = Extract<ToChain, { kind: "response" | "bytes" | "no-response" }>;

/** Sends requests through the follower. */
export class Remote {
  readonly #send: (message: FromChain) => void;
  readonly #open = new Map<number, Open>();
  #requests = 0;

  constructor(send: (message: FromChain) => void) {
    this.#send = send;
  }

  /** Returns the `fetch` of a source. */
  of(source: number): typeof globalThis.fetch {
    return (url, init) => {
      const { label = "the request", limit = 0 } = (init as Options | undefined)?.[ASKED] ?? {};
      const request = {
        id: (this.#requests += 1),
        source,
        url: addressOf(url),
        body: init?.body as string | undefined,
        ...{ label, limit },
      };
      return this.#fetch(request, init?.signal ?? undefined);
    };
  }

  /** Takes a message from the follower. */
  receive(message: RemoteAnswer): void {
    const open = this.#open.get(message.id);
    if (!open) return;
    switch (message.kind) {
      case "response":
        if (message.pieces) this.#open.delete(message.id);
        open.begin(this.#response(message, open));
        break;
      case "bytes":
        if (!message.bytes) this.#open.delete(message.id);
        open.take?.(message.bytes);
        break;
      case "no-response":
        this.#open.delete(message.id);
        open.fail(errorOf(message));
        open.take?.(undefined);
    }
  }

  #fetch(request: RemoteRequest, signal: AbortSignal | undefined): Promise<Response> {
    const { id } = request;
    return new Promise((begin, fail) => {
      if (signal?.aborted) {
        fail(new Error("the request was aborted"));
        return;
      }
      this.#open.set(id, { begin, fail, take: undefined });
      signal?.addEventListener(
        "abort",
        () => {
          if (this.#open.delete(id)) this.#send({ kind: "cancel", id });
          fail(new Error("the request was aborted"));
        },
        { once: true },
      );
      this.#send({ kind: "fetch", request });
    });
  }

  #response(
    { id, status, length, pieces }: Extract<RemoteAnswer, { kind: "response" }>,
    open: Open,
  ): Response {
    const body = pieces ? streamOf(pieces) : this.#pull(id, open);
    // Other statuses have no body, and are no answers.
    const isOk = status >= 200 && status < 300 && status !== 204 && status !== 205;
    return new Response(isOk ? body : null, {
      status: isOk ? 200 : Math.min(Math.max(status, 400), 599),
      headers: length === null ? {} : { "Content-Length": length },
    });
  }

  /** Returns a stream that asks the follower for each piece. */
  #pull(id: number, open: Open): ReadableStream<Uint8Array<ArrayBuffer>> {
    let failure: Error | undefined;
    open.fail = (error) => {
      failure = error;
    };
    return new ReadableStream<Uint8Array<ArrayBuffer>>(
      {
        pull: async (controller) => {
          const bytes = await new Promise<Uint8Array | undefined>((resolve) => {
            open.take = resolve;
            this.#send({ kind: "more", id });
          });
          if (failure) controller.error(failure);
          else if (bytes) controller.enqueue(new Uint8Array(bytes));
          else controller.close();
        },
      },
      // Nothing is read before it is wanted.
      { highWaterMark: 0 },
    );
  }
}

function addressOf(url: string | URL | Request): string {
  if (typeof url === "string") return url;
  return "href" in url ? url.href : url.url;
}

function errorOf({ message, failure }: Extract<RemoteAnswer, { kind: "no-response" }>): Error {
  if (!failure) return new Error(message);
  const { code, again } = failure;
  return new Failed({ error: new RandomXError(code, message), again });
}

/** Returns a stream of pieces that it does not copy. */
function streamOf(pieces: Uint8Array<ArrayBuffer>[]): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream({
    start: (controller) => {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });
}
