/** A proxy that alters the daemon's responses. */
import type { ServerResponse } from "node:http";
import { listenHttp, type Loopback } from "./loopback.js";

/** The result of a call about a block. It is altered in place. */
export interface Result {
  blob: string;
  block_header: { hash: string; height: number; wide_difficulty: string };
}

/** The parts of a request that tests read. */
export interface Call {
  method: string;
  params: { height?: number; start_height?: number; end_height?: number };
}

/** Alters a result, or sends a response itself and returns `true`. */
export type Alter = (result: Result, call: Call, response: ServerResponse) => boolean | undefined;

export class Proxy {
  readonly url: string;
  /** The number of responses so far. */
  calls = 0;
  readonly #server: Loopback;

  private constructor(server: Loopback) {
    this.url = `http://127.0.0.1:${server.port}`;
    this.#server = server;
  }

  /** Starts a proxy for a daemon. */
  static async before(daemon: string, alter: Alter): Promise<Proxy> {
    const server = await listenHttp((request, response) => {
      void (async () => {
        let body = "";
        for await (const chunk of request) body += String(chunk);
        const upstream = await fetch(`${daemon}/json_rpc`, { method: "POST", body });
        const json = (await upstream.json()) as { result?: Result };
        proxy.calls += 1;
        const taken =
          json.result !== undefined && alter(json.result, JSON.parse(body) as Call, response);
        if (taken !== true) response.end(JSON.stringify(json));
        // A client may have given up.
      })().catch(() => response.destroy());
    });
    const proxy = new Proxy(server);
    return proxy;
  }

  close(): void {
    this.#server.close();
  }
}
