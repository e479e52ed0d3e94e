/** One request over HTTP and its answer, which can be given up at any time. */
import { bodyReader, type BodyReader } from "../body.js";
import { isSpiderMonkey } from "../environment.js";

/**
 * The key under which a request's options carry its name in messages and the most bytes of its answer. `Remote` passes
 * them on to the follower's thread. Every other `fetch` ignores them.
 */
export const ASKED = Symbol("asked");

/** The options of a request. */
export interface Options extends RequestInit {
  [ASKED]?: { label: string; limit: number };
}

/**
 * Milliseconds to wait for the headers of a request that was given up, before it is aborted: 0 outside Firefox.
 *
 * A body can be cancelled only after the headers have arrived. If Firefox aborts a request whose body was neither read
 * nor cancelled, it decompresses all that has arrived and keeps it as long as the worker runs: 64 MiB from 64 KiB.
 */
const GRACE = isSpiderMonkey() ? 1000 : 0;

/** A request that has been sent. */
export class Exchange {
  /** The answer, once its headers are here. */
  readonly response: Promise<Response>;
  readonly #stop = new AbortController();
  #arrived: Response | undefined;
  #reader: BodyReader | undefined;

  /** Sends a request: a POST if there is a body. */
  constructor(
    fetch: typeof globalThis.fetch,
    url: URL | string,
    body: string | undefined,
    asked?: Options[typeof ASKED],
  ) {
    this.response = this.#send(fetch, url, {
      // Browsers send text without a content type without a preflight request.
      ...(body === undefined ? {} : { method: "POST", body }),
      // The caller named this server, and no other.
      redirect: "error",
      credentials: "omit",
      referrerPolicy: "no-referrer",
      signal: this.#stop.signal,
      ...(asked && { [ASKED]: asked }),
    });
  }

  /** Returns a reader of the answer's body. The body has no other. */
  read(body: ReadableStream<Uint8Array>): BodyReader {
    this.#reader = bodyReader(body);
    return this.#reader;
  }

  /** Cancels the rest of the answer, and aborts the request. */
  giveUp(): void {
    this.#cancel();
    if (this.#arrived || GRACE === 0) {
      this.#stop.abort();
      return;
    }
    const timer = setTimeout(() => {
      this.#stop.abort();
    }, GRACE);
    const end = (): void => {
      clearTimeout(timer);
      this.#cancel();
      this.#stop.abort();
    };
    this.response.then(end, end);
  }

  async #send(fetch: typeof globalThis.fetch, url: URL | string, options: Options) {
    const response = await fetch(url, options);
    // Packages such as node-fetch answer with a stream of Node.js, which has other methods.
    if (response.body && !("getReader" in response.body)) {
      throw new Error("fetch: expected an answer whose body is a ReadableStream");
    }
    this.#arrived = response;
    // A `fetch` that ignores its signal answers after the end.
    if (this.#stop.signal.aborted) this.#cancel();
    return response;
  }

  #cancel(): void {
    if (this.#reader) this.#reader.cancel();
    else void this.#arrived?.body?.cancel().catch(() => undefined);
  }
}
