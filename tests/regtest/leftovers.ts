/** Programs and folders of tests. When this process ends, it ends and removes those that tests have left. */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const programs = new Set<ChildProcess>();
const folders = new Set<string>();
let watchesEnd = false;

/** Has this process kill a program that still runs when this process ends. Returns the program. */
export function killAtEnd<Program extends ChildProcess>(program: Program): Program {
  watchEnd();
  programs.add(program);
  program.once("exit", () => programs.delete(program));
  return program;
}

/** Whether a program has started, and has not ended by itself or by a signal. */
export function isRunning({ pid, exitCode, signalCode }: ChildProcess): boolean {
  return pid !== undefined && exitCode === null && signalCode === null;
}

/** Sends a program a signal if it still runs, and waits for its end. */
export async function end(
  program: ChildProcess,
  signal: NodeJS.Signals = "SIGKILL",
): Promise<void> {
  if (!isRunning(program)) return;
  const ended = once(program, "exit");
  program.kill(signal);
  await ended;
}

/** Makes a temporary folder, whose name begins with `randomx-` and a name. */
export async function makeFolder(name: string): Promise<string> {
  watchEnd();
  const folder = await mkdtemp(join(tmpdir(), `randomx-${name}-`));
  folders.add(folder);
  return folder;
}

export async function removeFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  folders.delete(folder);
}

function watchEnd(): void {
  if (watchesEnd) return;
  watchesEnd = true;
  process.once("exit", removeLeftovers);
  // A signal without a listener ends a process without the event "exit". Vitest sends SIGTERM to each process of
  // tests. Playwright's processes have listeners, and exit when their parent asks them to.
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    if (process.listenerCount(signal) > 0) continue;
    process.once(signal, () => {
      removeLeftovers();
      process.kill(process.pid, signal);
    });
  }
}

function removeLeftovers(): void {
  for (const program of programs) program.kill("SIGKILL");
  for (const folder of folders) {
    try {
      // A killed program may write until the signal arrives.
      rmSync(folder, { recursive: true, force: true, maxRetries: 3, retryDelay: 20 });
    } catch (error) {
      console.error(`${folder}: not removed: ${String(error)}`);
    }
  }
}
