/** The memory of browser processes. */
import { readFileSync, readdirSync } from "node:fs";

/**
 * Returns the MiB that this process's descendants hold, or nothing where there is no `/proc`. Shared
 * pages are divided among their owners. Pages of files are left out, since more of the browser's
 * own program is resident after more of it has run.
 */
export function heldMemory(): number | undefined {
  const family = familyOf(process.pid);
  family?.delete(process.pid);
  return family && mebibytes(family);
}

/**
 * Returns the same by what each process does: Chromium's `renderer`, Firefox's `Isolated Web Co`,
 * `WebKitWebProcess`. The main process of a browser has the browser's name.
 */
export function heldByKind(): Map<string, number> {
  const family = familyOf(process.pid) ?? new Set();
  family.delete(process.pid);
  const held = new Map<string, number>();
  for (const pid of family) {
    const kind = kindOf(pid);
    held.set(kind, (held.get(kind) ?? 0) + mebibytes(new Set([pid])));
  }
  return held;
}

/** Chromium's processes have an argument for it, others have names. */
function kindOf(pid: number): string {
  const args = read(`/proc/${pid}/cmdline`).split("\0");
  const kind = args.find((arg) => arg.startsWith("--type="))?.slice("--type=".length);
  return kind ?? read(`/proc/${pid}/comm`).trim();
}

/** Returns the MiB that a process and its descendants hold, counted likewise. */
export function heldBy(pid: number): number {
  return mebibytes(familyOf(pid) ?? new Set());
}

/** Returns a process and its descendants, or nothing where there is no `/proc`. */
export function familyOf(pid: number): Set<number> | undefined {
  const all = processes();
  if (!all) return undefined;
  const family = new Set([pid]);
  for (let size = 0; size !== family.size;) {
    size = family.size;
    for (const { pid, parent } of all) if (family.has(parent)) family.add(pid);
  }
  return family;
}

function mebibytes(pids: ReadonlySet<number>): number {
  const kib = [...pids].reduce((sum, pid) => sum + proportional(pid), 0);
  return kib / 1024;
}

function processes(): { pid: number; parent: number }[] | undefined {
  const numbers = list("/proc")?.filter((name) => /^\d+$/u.test(name));
  return numbers?.flatMap((pid) => {
    // The name, in parentheses, can contain anything.
    const parent = /.*\) \S (\d+) /u.exec(read(`/proc/${pid}/stat`))?.[1];
    return parent === undefined ? [] : [{ pid: Number(pid), parent: Number(parent) }];
  });
}

function proportional(pid: number): number {
  const rollup = read(`/proc/${pid}/smaps_rollup`);
  const found = rollup.matchAll(/^Pss_(?:Anon|Shmem): +(\d+) kB$/gmu);
  return [...found].reduce((sum, [, kib]) => sum + Number(kib), 0);
}

function list(folder: string): string[] | undefined {
  try {
    return readdirSync(folder);
  } catch {
    return undefined;
  }
}

/** Returns nothing for a process that has ended meanwhile. */
function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
