/** The set-ups in which known hashes are computed, beside that which the package chooses. */
import type { CreateOptions } from "../../../wasm/js/index.js";
import { known, repeat, type KnownBatch } from "./known.js";

/** A set-up, and what is hashed in it. */
export interface Cell {
  name: string;
  /** What is asked for; every field is, so that nothing is measured or left to chance. */
  options: CreateOptions & { threads: number; lanes: number; engine: "jit" | "interpreter" };
  /** Whether multiplying and adding at once is made use of; not every browser can. */
  fused: boolean;
  batches: KnownBatch[];
}

const THREADS = [1, 2] as const;
const LANES = [1, 2, 4, 8] as const;

/** What runs programs: each tier of the generated code, and the interpreter. */
const MACHINES = [
  { name: "jit, fused", engine: "jit", fused: true },
  { name: "jit, unfused", engine: "jit", fused: false },
  { name: "interpreter", engine: "interpreter", fused: false },
] as const;

type Machine = (typeof MACHINES)[number];

/** Every known hash by each machine; the widest set-up, which is the quickest too. */
export const whole: Cell[] = MACHINES.map((machine) => cell(machine, 2, 8, known));

/** Every number of lanes and workers with each machine: some hashes. */
export const grid: Cell[] = MACHINES.flatMap((machine) =>
  THREADS.flatMap((threads) =>
    LANES.map((lanes) => cell(machine, threads, lanes, some(rounds(threads * lanes)))),
  ),
);

/** Hashes that fill all lanes of all workers, once or again. */
function rounds(lanes: number): number {
  return lanes * Math.ceil(4 / lanes);
}

/** As many known hashes of version 1, and up to eight of version 2. */
export function some(count: number): KnownBatch[] {
  const [shares] = known.filter(({ file }) => file === "mainnet-shares");
  const both = known.filter(({ file, key }) => file === "reference-hashes" && key.length === 64);
  const [one, two] = [1, 2].map((version) => both.find((batch) => batch.version === version));
  if (!shares || !one || !two) throw new Error("the vectors are not what they were");
  // A key of its own for version 1 where its inputs are too few.
  const batch = count > one.inputs.length ? shares : one;
  return [repeat(batch, count), repeat(two, Math.min(count, two.inputs.length))];
}

function cell(
  { name, engine, fused }: Machine,
  threads: number,
  lanes: number,
  batches: KnownBatch[],
): Cell {
  // What is there and wanted is not named: naming what is not there is an error.
  const features = fused ? {} : { fusedMultiplyAdd: false };
  return {
    name: `${name}, ${lanes} lanes, ${threads} threads`,
    options: { threads, lanes, engine, features },
    fused,
    batches,
  };
}
