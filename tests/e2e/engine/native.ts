/** Hashes by the native program at `RANDOMX_NATIVE`, to compare the browser's with. */
import { spawnSync } from "node:child_process";
import { nativeProgram } from "../../programs.js";
import type { Batch } from "../harness/vectors.js";

/** Room for many hashes in hex. */
const MAX_OUTPUT = 1 << 24;

/** Returns the hashes of each batch. */
export function nativeHashes(batches: readonly Batch[]): string[][] {
  const program = nativeProgram();
  // Batches of a key stand together: a new key takes a new cache.
  const byKey = batches.toSorted((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key)));
  const lines = byKey.flatMap(({ key, version, inputs }) =>
    inputs.map((input) => JSON.stringify({ key, version, input })),
  );
  const { status, stdout, stderr } = spawnSync(program, ["hash", "--jsonl", "-"], {
    input: lines.join("\n"),
    encoding: "utf8",
    maxBuffer: MAX_OUTPUT,
  });
  if (status !== 0) throw new Error(`${program} failed: ${stderr}`);
  const hashes = stdout
    .trim()
    .split("\n")
    .map((line) => (JSON.parse(line) as { hash: string }).hash);
  const ofBatch = new Map(byKey.map((batch) => [batch, hashes.splice(0, batch.inputs.length)]));
  return batches.map((batch) => ofBatch.get(batch) ?? []);
}
