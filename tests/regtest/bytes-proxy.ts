/** A proxy before a node that passes on every path, alters bytes, and counts them. */
import { once } from "node:events";
import { request as send, type IncomingMessage, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { listenHttp, type Loopback } from "./loopback.js";

/**
 * Alters an answer, or returns `undefined` if it takes care of the response itself. The method is
 * that of JSON-RPC, or the path.
 */
export type AlterBytes = (
  method: string,
  answer: Buffer,
  response: ServerResponse,
) => Buffer | undefined;

export class BytesProxy {
  readonly url: string;
  /** The bytes of the bodies of requests and answers so far. */
  bytes = 0;
  /** The present lie. */
  alter: AlterBytes | undefined;
  readonly #server: Loopback;

  private constructor(server: Loopback) {
    this.url = `http://127.0.0.1:${server.port}`;
    this.#server = server;
  }

  static async before(node: string): Promise<BytesProxy> {
    const server = await listenHttp((request, response) => {
      void (async () => {
        const body = await buffer(request);
        const path = request.url ?? "/";
        const type = request.headers["content-type"] ?? "application/json";
        let answer: Buffer | undefined = await post(`${node}${path}`, type, body);
        if (proxy.alter) answer = proxy.alter(methodOf(path, body), answer, response);
        if (answer === undefined) return;
        proxy.bytes += body.length + answer.length;
        // Monero's wallets do not notice that an idle connection was closed, and fail then.
        const length = { "content-length": answer.length, connection: "close" };
        response.writeHead(200, { "content-type": type, ...length });
        response.end(answer);
      })().catch(() => response.destroy());
    });
    const proxy = new BytesProxy(server);
    return proxy;
  }

  close(): void {
    this.#server.close();
  }
}

async function post(url: string, type: string, body: Buffer): Promise<Buffer> {
  // With `connection: close`, monerod at times ends the connection in the middle of a long answer.
  const headers = { "content-type": type, "content-length": body.length, connection: "keep-alive" };
  // A connection for each request: nodes close idle ones at any time.
  const request = send(url, { method: "POST", headers, agent: false });
  request.end(body);
  try {
    const [response] = (await once(request, "response")) as [IncomingMessage];
    return await buffer(response);
  } finally {
    request.destroy();
  }
}

function methodOf(path: string, body: Buffer): string {
  if (path !== "/json_rpc") return path;
  return (JSON.parse(body.toString()) as { method: string }).method;
}

/** Alters the fields of a JSON answer, or of its result. */
export function alterJson(answer: Buffer, change: (fields: never) => void): Buffer {
  const json = JSON.parse(answer.toString()) as { result?: object };
  change((json.result ?? json) as never);
  return Buffer.from(JSON.stringify(json));
}

/** Changes the last digit of a blob in hex. */
export function alterHex(blob: string): string {
  return `${blob.slice(0, -1)}${blob.endsWith("0") ? "1" : "0"}`;
}
