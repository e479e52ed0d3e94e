/** Runs the program `randomx`, which `cargo xtask test` built. */
import { execFile } from "node:child_process";
import { nativeProgram } from "../programs.js";

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
export function verify(node: string, ...args: string[]): Promise<Run> {
  const program = nativeProgram();
  return new Promise((resolve) => {
    const all = ["verify", "--network", "regtest", "--node", node, ...args];
    execFile(program, all, { maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
      const lines = stdout.split("\n").filter((line) => line !== "");
      const verdicts = lines.map((line) => JSON.parse(line) as CliVerdict);
      const code = error === null ? 0 : Number(error.code);
      resolve({ code, verdicts, stderr });
    });
  });
}

/** Returns the checks that failed in the last verdict. */
export function failed({ verdicts }: Run): string[] {
  return (verdicts.at(-1)?.failed ?? []).map(({ check }) => check);
}
