/** A SOCKS5 proxy on loopback that knows a name which no name server does, as Tor's proxy does. */
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { listen, type Loopback } from "./loopback.js";

export class SocksProxy {
  readonly url: string;
  /** The names and addresses that were requested, as the client sent them. */
  readonly requested: string[] = [];
  readonly #server: Loopback;

  private constructor(server: Loopback) {
    this.url = `socks5://127.0.0.1:${server.port}`;
    this.#server = server;
  }

  /** Starts a proxy through which every name leads to a port on loopback. */
  static async start(port: number): Promise<SocksProxy> {
    const server = createServer((socket) => {
      socket.on("error", () => socket.destroy());
      void serve(socket, port, proxy.requested).catch(() => socket.destroy());
    });
    const proxy = new SocksProxy(await listen(server));
    return proxy;
  }

  close(): void {
    this.#server.close();
  }
}

/** Serves one connection: a greeting without a login, a request to connect, and bytes both ways. */
async function serve(socket: Socket, port: number, requested: string[]): Promise<void> {
  const [, methods = 0] = await read(socket, 2);
  await read(socket, methods);
  socket.write(Buffer.from([5, 0]));
  const [, , , kind] = await read(socket, 4);
  // 1 is an address of four bytes, 3 a name after its length.
  const length = kind === 3 ? ((await read(socket, 1))[0] ?? 0) : 4;
  const target = await read(socket, length);
  await read(socket, 2);
  requested.push(kind === 3 ? target.toString() : target.join("."));
  const other = connect(port, "127.0.0.1");
  await once(other, "connect");
  socket.write(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]));
  other.on("error", () => socket.destroy());
  socket.pipe(other).pipe(socket);
}

async function read(socket: Socket, count: number): Promise<Buffer> {
  for (;;) {
    const bytes = socket.read(count) as Buffer | null;
    if (bytes) return bytes;
    await once(socket, "readable");
  }
}
