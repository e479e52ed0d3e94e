/** `randomx serve`, with clients that leave early and clients that write slowly. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { nativeProgram } from "../programs.js";
import { killAtEnd } from "../regtest/leftovers.js";
import { MIDDLE, sleep, type Batch, type Subject } from "./subject.js";

/** Clients that send half of a request. The server closes them after 10 seconds. */
const SLOW = 4;

/** Starts the server. */
export async function serveSubject(): Promise<Subject> {
  const child = killAtEnd(
    spawn(nativeProgram(), ["serve", "--port", "0", "--threads", "2"], {
      stdio: ["ignore", "pipe", "inherit"],
    }),
  );
  const output = createInterface(child.stdout);
  // The output closes when the program ends.
  const [line = "nothing"] = (await Promise.race([once(output, "line"), once(output, "close")])) as
    [string] | [];
  const [origin] = /http:\/\/[\d.:]+/u.exec(line) ?? [];
  if (!origin) throw new Error(`randomx serve: expected an address, got ${line}`);
  const post = (body: Batch, signal?: AbortSignal): Promise<Response> =>
    fetch(`${origin}/api/hash`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
      ...(signal ? { signal } : {}),
    });
  return {
    name: "serve",
    pid: child.pid ?? 0,
    hash: async (batch) => {
      const response = await post(batch);
      if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
      const { hashes } = (await response.json()) as { hashes: { hash: string }[] };
      return hashes.map(({ hash }) => hash);
    },
    disturb: async (fault, batch) => {
      if (fault === "slow") {
        await Promise.all(Array.from({ length: SLOW }, () => slowClient(new URL(origin))));
        return "slow clients left";
      }
      const abort = new AbortController();
      const ended = post(batch, abort.signal).then(
        (response) => String(response.status),
        () => "aborted",
      );
      await sleep(MIDDLE);
      abort.abort();
      return ended;
    },
    close: async () => {
      child.kill("SIGINT");
      await once(child, "exit");
    },
  };
}

/** Writes half of a request, waits, and leaves. */
async function slowClient({ hostname, port, host }: URL): Promise<void> {
  const socket: Socket = connect(Number(port), hostname);
  socket.on("error", () => undefined);
  await once(socket, "connect");
  socket.write(`POST /api/hash HTTP/1.1\r\nHost: ${host}\r\nContent-`);
  await sleep(1000);
  socket.destroy();
}
