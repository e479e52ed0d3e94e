/** A gate before a daemon: while it is shut, nobody sees how the daemon's chain changes. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Daemon } from "../regtest/daemon.js";
import { listenHttp, type Loopback } from "../regtest/loopback.js";

/** Headers that a page's requests and answers need. */
const KEPT = ["origin", "content-type", "access-control-allow-origin"];

export class Gate {
  readonly url: string;
  readonly #server: Loopback;
  readonly #daemon: Daemon;
  /** Requests that the daemon answers now. */
  readonly #answering = new Set<Promise<void>>();
  #opened: Promise<void> = Promise.resolve();

  private constructor(server: Loopback, daemon: Daemon) {
    this.url = `http://127.0.0.1:${server.port}`;
    this.#server = server;
    this.#daemon = daemon;
  }

  static async before(daemon: Daemon): Promise<Gate> {
    const server = await listenHttp((request, response) => {
      // A client may have given up.
      gate.#pass(request, response).catch(() => response.destroy());
    });
    const gate = new Gate(server, daemon);
    return gate;
  }

  /** Does some work while requests wait. Those that the daemon has already are answered before. */
  async shutWhile(work: () => Promise<unknown>): Promise<void> {
    let open = (): void => undefined;
    this.#opened = new Promise((resolve) => (open = resolve));
    try {
      await Promise.allSettled(this.#answering);
      await work();
    } finally {
      open();
    }
  }

  [Symbol.dispose](): void {
    this.#server.close();
  }

  async #pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    await this.#opened;
    const answering = this.#answer(request, Buffer.concat(parts), response);
    this.#answering.add(answering);
    await answering.finally(() => this.#answering.delete(answering));
  }

  async #answer(request: IncomingMessage, body: Buffer, response: ServerResponse): Promise<void> {
    const { method = "GET", url = "/" } = request;
    const headers = KEPT.flatMap((name): [string, string][] => {
      const value = request.headers[name];
      return typeof value === "string" ? [[name, value]] : [];
    });
    const sent = method === "POST" ? { body: new Uint8Array(body) } : {};
    const answer = await fetch(this.#daemon.url + url, { method, headers, ...sent });
    for (const name of KEPT) {
      const value = answer.headers.get(name);
      if (value !== null) response.setHeader(name, value);
    }
    response.writeHead(answer.status).end(Buffer.from(await answer.arrayBuffer()));
  }
}
