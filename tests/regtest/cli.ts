/** Runs the program `randomx`, which `cargo xtask test` built. */
import { execFile } from "node:child_process";
import { exitCode, nativeProgram } from "../programs.js";

/** The result of a run. */
export interface Run {
  code: number;
  verdicts: CliVerdict[];
  stderr: string;
}

/** A line of output of `randomx verify --node`. */
export interface CliVerdict {
  height: number;
  id?: string;
  valid: boolean;
  hash?: string;
  failed?: { check: string; detail: string }[];
}

/** Verifies a node's chain. */
export async function verify(node: string, ...args: string[]): Promise<Run> {
  const all = ["verify", "--network", "regtest", "--node", node, ...args];
  const { code, stdout, stderr } = await run(...all);
  const lines = stdout.split("\n").filter((line) => line !== "");
  return { code, verdicts: lines.map((line) => JSON.parse(line) as CliVerdict), stderr };
}

/** Returns the checks that failed in the last verdict. */
export function failed({ verdicts }: Run): string[] {
  return (verdicts.at(-1)?.failed ?? []).map(({ check }) => check);
}

/** A run of `randomx follow --once`. */
export interface FollowRun {
  code: number;
  events: FollowEvent[];
  stderr: string;
}

/** A line of `randomx follow --json`. */
export interface FollowEvent {
  event: string;
  height?: number;
  id?: string;
  source?: string;
  state?: string;
  depth?: number;
  common?: { height: number; id: string };
  tip?: { height: number; id: string };
  evidence?: string | null;
}

/** Follows the chains of sources with difficulty 1 to their ends. */
export async function follow(...args: string[]): Promise<FollowRun> {
  const common = ["follow", "--network", "regtest", "--fixed-difficulty", "1", "--once", "--json"];
  const { code, stdout, stderr } = await run(...common, ...args);
  const lines = stdout.split("\n").filter((line) => line !== "");
  return { code, events: lines.map((line) => JSON.parse(line) as FollowEvent), stderr };
}

/** Runs the program to its end. */
export function run(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(nativeProgram(), args, { maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
      resolve({ code: exitCode(error), stdout, stderr });
    });
  });
}
