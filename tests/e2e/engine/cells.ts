/** Set-ups in which known hashes are computed, besides the package's default, and which are required. */
import type { CreateOptions } from "../../../wasm/js/index.js";
import type { BrowserName } from "../browsers/browser.js";
import type { Tier } from "../tiers.js";
import { known, repeat, type KnownBatch } from "./known.js";

/** A set-up, and the hashes that are computed in it. */
export interface Cell {
  name: string;
  /** Every field is given, so that nothing is measured or left to chance. */
  options: CreateOptions & { threads: number; lanes: number; engine: "jit" | "interpreter" };
  /** Whether generated code multiplies and adds at once, which not every browser can do. */
  fused: boolean;
  batches: KnownBatch[];
}

const THREADS = [1, 2] as const;
const LANES = [1, 2, 4, 8] as const;

/** Each tier of the generated code, and the interpreter. */
const ENGINES = [
  { name: "jit, fused", engine: "jit", fused: true },
  { name: "jit, unfused", engine: "jit", fused: false },
  { name: "interpreter", engine: "interpreter", fused: false },
] as const;

type Engine = (typeof ENGINES)[number];

/** Some hashes by each engine, in the widest set-up. */
export const widest: Cell[] = ENGINES.map((engine) => gridCell(engine, 2, 8));

/** Some hashes by each engine with every other number of workers and lanes. */
export const narrower: Cell[] = ENGINES.flatMap((engine) =>
  THREADS.flatMap((threads) => LANES.map((lanes) => gridCell(engine, threads, lanes))),
).filter(({ name }) => !widest.some((cell) => cell.name === name));

/** Every known hash by each engine. */
export const whole: Cell[] = ENGINES.map((engine) => cell(engine, 2, 8, known));

/** The cells that a browser must have run in a tier. */
export function requiredCells(tier: Tier): Cell[] {
  return tier === "quick" ? widest : [...widest, ...narrower, ...whole];
}

/** Whether a browser must have computed every known hash in a tier, whatever the set-up. */
export function requiresEveryHash(tier: Tier, browser: BrowserName): boolean {
  return tier === "full" || browser === "chromium";
}

/** As many known hashes of version 1, some of them repeated, and up to eight of version 2. */
export function some(count: number): KnownBatch[] {
  const both = known.filter(({ file, key }) => file === "reference-hashes" && key.length === 64);
  const [one, two] = [1, 2].map((version) => both.find((batch) => batch.version === version));
  if (!one || !two) throw new Error("tests/vectors: a batch of known hashes is missing");
  // Both have the same key. Another one with more inputs would fill a cache more.
  return [repeat(one, count), repeat(two, Math.min(count, two.inputs.length))];
}

/** At least four hashes, which fill all lanes of all workers. */
function gridCell(engine: Engine, threads: number, lanes: number): Cell {
  const atOnce = threads * lanes;
  return cell(engine, threads, lanes, some(atOnce * Math.ceil(4 / atOnce)));
}

function cell(
  { name, engine, fused }: Engine,
  threads: number,
  lanes: number,
  batches: KnownBatch[],
): Cell {
  // Asking for a feature that the browser lacks is an error, so an available one is not named.
  const features = fused ? {} : { fusedMultiplyAdd: false };
  return {
    name: `${name}, ${lanes} lanes, ${threads} threads`,
    options: { threads, lanes, engine, features },
    fused,
    batches,
  };
}
