/** What a subject holds: memory, open files, threads. */
import { readdirSync } from "node:fs";
import { heldBy } from "../e2e/browsers/memory.js";
import type { Subject } from "./subject.js";

/** What a subject holds at one moment. */
export interface Sample {
  /** MiB in its process and those that it started. */
  memory: number;
  /** Open files of its process. */
  files: number;
  /** Threads of its process. */
  threads: number;
}

/** Reads what a subject holds now. */
export function sample({ pid }: Subject): Sample {
  return {
    memory: Math.round(heldBy(pid)),
    files: readdirSync(`/proc/${pid}/fd`).length,
    threads: readdirSync(`/proc/${pid}/task`).length,
  };
}

/** The least of each number in some samples: what remains when caches and garbage are gone. */
export function least(samples: readonly Sample[]): Sample {
  const of = (name: keyof Sample): number => Math.min(...samples.map((sample) => sample[name]));
  return { memory: of("memory"), files: of("files"), threads: of("threads") };
}
