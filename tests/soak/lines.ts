/** A program that answers each line of its input with a line. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { killAtEnd } from "../regtest/leftovers.js";

/** A running program. */
export interface LineProgram {
  readonly pid: number;
  /** Writes lines, and resolves to the answers in the same order. */
  ask: (lines: readonly string[]) => Promise<string[]>;
  close: () => Promise<void>;
}

/** Starts a program. */
export function lineProgram(program: string, args: readonly string[]): LineProgram {
  const child = killAtEnd(spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] }));
  const waiting: { resolve: (answer: string) => void; reject: (error: Error) => void }[] = [];
  createInterface(child.stdout).on("line", (line) => waiting.shift()?.resolve(line));
  // The program may end before it has read all lines.
  child.stdin.on("error", () => undefined);
  let failure: Error | undefined;
  child.on("exit", (code, signal) => {
    failure = new Error(`${program} ended with ${code ?? signal}`);
    for (const { reject } of waiting) reject(failure);
  });
  return {
    pid: child.pid ?? 0,
    ask: async (lines) => {
      if (failure) throw failure;
      const answers = lines.map(
        () => new Promise<string>((resolve, reject) => waiting.push({ resolve, reject })),
      );
      child.stdin.write(lines.map((line) => `${line}\n`).join(""));
      return Promise.all(answers);
    },
    close: async () => {
      child.stdin.end();
      await ended(child);
    },
  };
}

/** Waits until a process ends, and returns its code or signal. */
export async function ended(child: ChildProcess): Promise<string> {
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  return String(child.signalCode ?? child.exitCode);
}
