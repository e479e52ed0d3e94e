/** The messages between views and the explorer worker. */
import type {
  Exploration,
  Figures,
  SuperscalarFunction,
} from "../../../wasm/explore/pkg/randomx_explore_wasm.js";
import type { RandomXErrorCode } from "../../../wasm/js/errors.js";

export type { Exploration, Figures, SuperscalarFunction };

/** The hash to explore. */
export interface Subject {
  key: Uint8Array<ArrayBuffer>;
  input: Uint8Array<ArrayBuffer>;
  version: 1 | 2;
}

/** The record of one hash and one of its programs. */
export interface Look {
  exploration: Exploration;
  /** `r0` to `r7` for each iteration. */
  integers: BigUint64Array<ArrayBuffer>;
  /** `f0` to `f3`, then `e0` to `e3`, two halves each, for each iteration. */
  floats: Float64Array<ArrayBuffer>;
  /** A bit for each 8 bytes of the scratchpad. */
  written: Uint8Array<ArrayBuffer>;
}

/** The worker's requests, with their arguments and answers. */
export interface Requests {
  /** Explores a hash and one of its programs, 0 to 7. */
  look: { args: Subject & { program: number }; answer: Look };
  /** Adds up the figures of some hashes, whose inputs are the given one followed by a counter. */
  count: { args: Subject & { hashes: number }; answer: Figures };
  /** Generates one of a key's functions, 0 to 7. */
  superscalar: {
    args: { key: Uint8Array<ArrayBuffer>; number: number };
    answer: SuperscalarFunction;
  };
  /** Measures a part of a hash: hashes, programs or MiB per second. */
  part: { args: { part: Part; milliseconds: number }; answer: number };
}

/** The parts that can be measured alone. */
export type Part = "Blake2b" | "Blake2bLong" | "Aes1R" | "Aes4R" | "AesHash1R" | "Superscalar";

export type RequestName = keyof Requests;

/** Progress of a request, 0 to 1. */
export interface Progress {
  phase: "cache" | "hashes";
  done: number;
}

export type ToWorker =
  | { [Q in RequestName]: { type: "request"; name: Q; args: Requests[Q]["args"] } }[RequestName]
  | { type: "abort" };

export type FromWorker =
  | { type: "progress"; progress: Progress }
  | { type: "answer"; answer: Requests[RequestName]["answer"] }
  | { type: "failure"; code: RandomXErrorCode; message: string };
