/** The package in a Node process. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { killAtEnd } from "../regtest/leftovers.js";
import { MIDDLE, type Subject } from "./subject.js";

interface Answer {
  id: number;
  result?: unknown;
  error?: string;
}

/** Starts the process. */
export async function nodeSubject(): Promise<Subject> {
  const child = killAtEnd(fork(fileURLToPath(new URL("node.mjs", import.meta.url))));
  const waiting = new Map<number, (answer: Answer) => void>();
  child.on("message", (answer: Answer) => {
    waiting.get(answer.id)?.(answer);
    waiting.delete(answer.id);
  });
  let failure: string | undefined;
  child.on("exit", (code, signal) => {
    failure = `node ended with ${code ?? signal}`;
    for (const resolve of waiting.values()) resolve({ id: 0, error: failure });
  });
  /** Returns the result of the answer with a number. */
  const next = async (id: number): Promise<unknown> => {
    const { result, error } = await new Promise<Answer>((resolve) => waiting.set(id, resolve));
    if (error !== undefined) throw new Error(error);
    return result;
  };
  let calls = 0;
  const call = async (name: string, ...args: unknown[]): Promise<unknown> => {
    if (failure !== undefined) throw new Error(failure);
    const id = (calls += 1);
    const answered = next(id);
    child.send({ id, name, args });
    return answered;
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
