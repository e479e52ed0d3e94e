/** Servers on free ports of loopback. */
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo, Server, Socket } from "node:net";

/** A server that accepts connections. */
export interface Loopback {
  port: number;
  /** Ends the server and its connections. */
  close: () => void;
}

/** Has a server of any protocol accept connections. */
export async function listen(server: Server): Promise<Loopback> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const close = (): void => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  return { port, close };
}

/** Starts a server of HTTP. */
export function listenHttp(answer: RequestListener): Promise<Loopback> {
  return listen(createServer(answer));
}
