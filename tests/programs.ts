/** Helpers of tests that start programs. */
import { execFileSync, type ExecFileException } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { win32 } from "node:path";
import { fileURLToPath } from "node:url";

/** Finds a port on loopback that is free now, for a program that cannot choose one itself. */
export async function freePort(): Promise<number> {
  const [port] = await withPort(() => Promise.resolve());
  return port;
}

/** Finds two ports on loopback that are free now. */
export async function twoFreePorts(): Promise<[number, number]> {
  return withPort(freePort);
}

/** Returns a free port, which is taken while some work runs, and the result of the work. */
async function withPort<T>(work: () => Promise<T>): Promise<[number, T]> {
  const [port, server] = await listen();
  try {
    return [port, await work()];
  } finally {
    server.close();
    await once(server, "close");
  }
}

/**
 * Listens on a random port below those that systems choose for connections and for servers on port 0. Others are
 * unlikely to take it before the program does.
 */
async function listen(): Promise<[number, Server]> {
  for (let tries = 1; ; tries++) {
    const port = randomInt(20_000, 32_768);
    const server = createServer().listen(port, "127.0.0.1");
    try {
      await once(server, "listening");
      return [port, server];
    } catch (error) {
      // Windows reserves ports for itself: EACCES.
      const { code } = error as NodeJS.ErrnoException;
      if (tries === 100 || (code !== "EADDRINUSE" && code !== "EACCES")) throw error;
    }
  }
}

/** Returns the exit code of a program that `execFile` ran, or -1 if a signal ended it, which has none. */
export function exitCode(error: ExecFileException | null): number {
  if (error === null) return 0;
  return typeof error.code === "number" ? error.code : -1;
}

/** Returns the path of the program `randomx`, which `cargo xtask` built. */
export function nativeProgram(): string {
  const program = process.env.RANDOMX_NATIVE;
  if (program && existsSync(program)) return program;
  throw new Error(
    `RANDOMX_NATIVE: expected the path of the program randomx, got ${program ?? "nothing"}; npm test and npm run bench:web set it`,
  );
}

/** Returns the path of the latest Node.js, from the npm package for this system and processor. */
export function latestNode(): string {
  const root = fileURLToPath(new URL("..", import.meta.url));
  const { optionalDependencies } = JSON.parse(readFileSync(`${root}package.json`, "utf8")) as {
    optionalDependencies: Record<string, string>;
  };
  const program = process.platform === "win32" ? "node.exe" : "node";
  const paths = Object.keys(optionalDependencies).map(
    (name) => `${root}node_modules/${name}/bin/${program}`,
  );
  const found = paths.find((path) => existsSync(path));
  if (found === undefined) throw new Error(`npm installed none of ${paths.join(", ")}`);
  return found;
}

/** Runs npm, perhaps in a folder, and returns its output. */
export function npm(options: readonly string[], cwd?: string): string {
  const [program, ...first] = npmCommand(process.platform, process.execPath);
  return execFileSync(program, [...first, ...options], { encoding: "utf8", cwd });
}

/** Returns the program and the first options that start npm on a system with a Node.js. */
export function npmCommand(platform: string, node: string): [string, ...string[]] {
  if (platform !== "win32") return ["npm"];
  // There `npm` is a command file, which Node.js does not start without a shell.
  return [node, win32.join(win32.dirname(node), "node_modules", "npm", "bin", "npm-cli.js")];
}
