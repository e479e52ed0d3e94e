/** What views and their worker say to each other. */
import type {
  Exploration,
  Figures,
  SuperscalarFunction,
} from "../../../wasm/explore/pkg/randomx_explore_wasm.js";
import type { RandomXErrorCode } from "../../../wasm/js/errors.js";

export type { Exploration, Figures, SuperscalarFunction };

/** What is hashed. */
export interface Subject {
  key: Uint8Array<ArrayBuffer>;
  input: Uint8Array<ArrayBuffer>;
  version: 1 | 2;
}

/** One hash and one of its programs. */
export interface Look {
  exploration: Exploration;
  /** `r0` to `r7` for each iteration. */
  integers: BigUint64Array<ArrayBuffer>;
  /** `f0` to `f3`, then `e0` to `e3`, two halves each, for each iteration. */
  floats: Float64Array<ArrayBuffer>;
  /** A bit for each 8 bytes of the scratchpad. */
  written: Uint8Array<ArrayBuffer>;
}

/** What the worker is asked. */
export interface Questions {
  /** Looks at a hash, and into a program, 0 to 7. */
  look: { args: Subject & { program: number }; answer: Look };
  /** Adds up figures of this many hashes, of the input with a counter behind it. */
  count: { args: Subject & { hashes: number }; answer: Figures };
  /** How a function, 0 to 7, of a key is made. */
  superscalar: {
    args: { key: Uint8Array<ArrayBuffer>; number: number };
    answer: SuperscalarFunction;
  };
  /** How much a part of a hash does in a second: hashes, programs, or MiB. */
  part: { args: { part: Part; milliseconds: number }; answer: number };
}

/** What can be measured by itself. */
export type Part = "Blake2b" | "Blake2bLong" | "Aes1R" | "Aes4R" | "AesHash1R" | "Superscalar";

export type Question = keyof Questions;

/** How far the work is, 0 to 1. */
export interface Progress {
  phase: "cache" | "hashes";
  done: number;
}

export type ToWorker =
  | { [Q in Question]: { type: "ask"; question: Q; args: Questions[Q]["args"] } }[Question]
  | { type: "abort" };

export type FromWorker =
  | { type: "progress"; progress: Progress }
  | { type: "answer"; answer: Questions[Question]["answer"] }
  | { type: "failure"; code: RandomXErrorCode; message: string };
