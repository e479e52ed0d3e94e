/** Helpers of tests that start programs. */
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";

/** Finds a port on loopback that is free now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/** Returns the path of the program `randomx`, which `cargo xtask` built. */
export function nativeProgram(): string {
  const program = process.env.RANDOMX_NATIVE;
  if (program && existsSync(program)) return program;
  throw new Error(
    `RANDOMX_NATIVE: expected the path of the program randomx, got ${program ?? "nothing"}; npm test and npm run bench:web set it`,
  );
}
