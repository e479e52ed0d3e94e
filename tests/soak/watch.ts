/** The resources of a subject: memory, open files, threads. */
import { readdirSync } from "node:fs";
import { familyOf, heldBy } from "../e2e/browsers/memory.js";
import type { Subject } from "./subject.js";

/** The resources of a subject's process and of those that it started. A page's workers are threads of one of these. */
export interface Sample {
  /** MiB. */
  memory: number;
  /** Open files. */
  files: number;
  /** Threads. */
  threads: number;
}

/** Reads what a subject holds now. */
export function sample({ pid }: Subject): Sample {
  return {
    memory: Math.round(heldBy(pid)),
    files: entries(pid, "fd"),
    threads: entries(pid, "task"),
  };
}

/** Counts the entries of a folder in `/proc` of a process and its descendants. */
function entries(pid: number, folder: string): number {
  let sum = 0;
  for (const each of familyOf(pid) ?? []) {
    try {
      sum += readdirSync(`/proc/${each}/${folder}`).length;
    } catch (error) {
      // It ended since it was listed.
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "ENOENT" && code !== "ESRCH") throw error;
    }
  }
  return sum;
}

/** The least of each number in some samples: what remains when caches and garbage are gone. */
export function least(samples: readonly Sample[]): Sample {
  const of = (name: keyof Sample): number => Math.min(...samples.map((sample) => sample[name]));
  return { memory: of("memory"), files: of("files"), threads: of("threads") };
}
