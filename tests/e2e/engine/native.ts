/** Hashes by the native program at the path in `RANDOMX_NATIVE`, to hold the browser's against. */
import { spawnSync } from "node:child_process";
import { nativeProgram } from "../../programs.js";
import type { Batch } from "../harness/vectors.js";

/** Room for many hashes in hex. */
const MAX_OUTPUT = 1 << 24;

/** The hashes of all inputs of some batches, in order. */
export function nativeHashes(batches: readonly Batch[]): string[] {
  const program = nativeProgram();
  const lines = batches.flatMap(({ key, version, inputs }) =>
    inputs.map((input) => JSON.stringify({ key, version, input })),
  );
  const { status, stdout, stderr } = spawnSync(program, ["hash", "--jsonl", "-"], {
    input: lines.join("\n"),
    encoding: "utf8",
    maxBuffer: MAX_OUTPUT,
  });
  if (status !== 0) throw new Error(`${program} failed: ${stderr}`);
  return stdout
    .trim()
    .split("\n")
    .map((line) => (JSON.parse(line) as { hash: string }).hash);
}
