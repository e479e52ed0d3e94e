/** What tests need that start programs. */
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";

/** A port on loopback that nobody listened on just now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/** The path of the command `randomx`, as `cargo xtask` built it. */
export function nativeProgram(): string {
  const program = process.env.RANDOMX_NATIVE;
  if (program && existsSync(program)) return program;
  throw new Error(
    "RANDOMX_NATIVE: expected the path of the binary `randomx`; `npm test` and `npm run bench:web` set it",
  );
}
