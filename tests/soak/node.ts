/** The package in a Node process. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { MIDDLE, type Subject } from "./subject.js";

interface Answer {
  id: number;
  result?: unknown;
  error?: string;
}

/** Starts the process. */
export async function nodeSubject(): Promise<Subject> {
  const child = fork(fileURLToPath(new URL("node.mjs", import.meta.url)));
  const waiting = new Map<number, (answer: Answer) => void>();
  child.on("message", (answer: Answer) => {
    waiting.get(answer.id)?.(answer);
    waiting.delete(answer.id);
  });
  child.on("exit", (code) => {
    for (const resolve of waiting.values()) resolve({ id: 0, error: `node ended with ${code}` });
  });
  const next = (id: number): Promise<Answer> => new Promise((resolve) => waiting.set(id, resolve));
  let calls = 0;
  const call = async (name: string, ...args: unknown[]): Promise<unknown> => {
    const id = (calls += 1);
    const answered = next(id);
    child.send({ id, name, args });
    const { result, error } = await answered;
    if (error !== undefined) throw new Error(error);
    return result;
  };
  await next(0);
  return {
    name: "node",
    pid: child.pid ?? 0,
    hash: async (batch) => (await call("hash", batch)) as string[],
    disturb: async (fault, batch) => (await call("disturb", fault, batch, MIDDLE)) as string,
    workers: async () => (await call("workers")) as number,
    close: async () => {
      child.kill();
      await once(child, "exit");
    },
  };
}
