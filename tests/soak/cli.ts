/** `randomx hash --jsonl -`, which another program keeps open. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { nativeProgram } from "../programs.js";
import { MIDDLE, sleep, type Batch, type Subject } from "./subject.js";

/** Starts the program. */
export function cliSubject(name: string, ...options: string[]): Subject {
  const child = start(options);
  const waiting: { resolve: (hash: string) => void; reject: (error: Error) => void }[] = [];
  createInterface(child.stdout).on("line", (line) => {
    waiting.shift()?.resolve((JSON.parse(line) as { hash: string }).hash);
  });
  child.on("exit", (code) => {
    for (const { reject } of waiting) reject(new Error(`randomx hash ended with ${code}`));
  });
  return {
    name,
    pid: child.pid ?? 0,
    hash: (batch) => {
      const hashes = batch.inputs.map(
        () => new Promise<string>((resolve, reject) => waiting.push({ resolve, reject })),
      );
      child.stdin.write(lines(batch));
      return Promise.all(hashes);
    },
    // The program itself goes on; another run of it is killed, or loses its reader.
    disturb: async (fault, batch) => {
      const other = start(options);
      other.stdin.on("error", () => undefined);
      other.stdin.end(lines(batch));
      await sleep(MIDDLE);
      if (fault === "kill") other.kill("SIGKILL");
      else other.stdout.destroy();
      return ended(other);
    },
    close: async () => {
      child.stdin.end();
      await ended(child);
    },
  };
}

function start(options: readonly string[]) {
  return spawn(nativeProgram(), ["hash", "--jsonl", "-", ...options], {
    stdio: ["pipe", "pipe", "inherit"],
  });
}

function lines({ key, version, inputs }: Batch): string {
  return inputs.map((input) => `${JSON.stringify({ version, key, input })}\n`).join("");
}

async function ended(child: ChildProcess): Promise<string> {
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  return String(child.signalCode ?? child.exitCode);
}
