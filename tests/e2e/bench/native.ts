/** Times the native build and the reference by `randomx bench`. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { nativeProgram } from "../../programs.js";
import type { Measurements } from "./rows.js";

/** Seconds of measuring in a round. */
const SECONDS = "2";

interface Report {
  machine: { processor: string; processors: number; system: string; reference?: string };
  results: { name: string; value: number | null; unit: string; reference?: number | null }[];
}

/** Returns a description of the machine. */
export async function describeMachine(): Promise<object> {
  const { stdout } = await promisify(execFile)(nativeProgram(), ["info", "--json"]);
  return JSON.parse(stdout) as object;
}

/** Measures a round of light mode on one thread, and returns a description of the machine. */
export async function measureNative(measurements: Measurements): Promise<Report["machine"]> {
  const program = nativeProgram();
  const scope = ["--mode", "light", "--version", "v1", "--threads", "1", "--no-microbenchmarks"];
  const time = ["--seconds", SECONDS, "--warmup", "1"];
  const against = ["--against", "reference", "--json"];
  const { stdout } = await promisify(execFile)(program, ["bench", ...against, ...scope, ...time]);
  const { machine, results } = JSON.parse(stdout) as Report;
  for (const { name, value, unit, reference } of results) {
    if (unit !== "H/s") continue;
    const single = name.includes("one at a time");
    const what = `hash, v1, ${single ? "1" : "many"} in a batch`;
    const place = { browser: "none", tier: "native", threads: 1, what };
    const ours = { ...place, engine: "jit", lanes: single ? 1 : 8 };
    if (value) measurements.add(ours, 1000 / value);
    const theirs = { ...place, engine: "reference", lanes: 1 };
    if (reference) measurements.add(theirs, 1000 / reference);
  }
  return machine;
}
