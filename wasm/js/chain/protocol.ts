/**
 * The messages between a follower and its worker. The worker asks the sources, parses their answers
 * and decides. The follower hashes, stores and reports.
 */
import type { PlainReport, PlainTip } from "../../follow/pkg/randomx_follow_wasm.js";
import type { PlainCheckpoint } from "../../monero/pkg/randomx_monero_wasm.js";
import type { RandomXErrorCode } from "../errors.js";
import type { PlainError } from "../protocol.js";
import type { Network } from "../types.js";
import type { ChainHeader, FoundTransaction, ProvenBlock } from "./types.js";

/** Where a first start begins. */
export type Start =
  | { kind: "anchors" }
  | { kind: "checkpoint"; checkpoint: PlainCheckpoint }
  | { kind: "between"; heights: number[]; ids: Uint8Array[]; works: string[] };

/** A source, as the worker asks it. */
export interface SourceArgs {
  kind: "node" | "relay";
  url: string;
  /** Whether the follower sends this source's requests: if the caller passed a `fetch`, and in WebKit. */
  isRemote: boolean;
}

/** The checked arguments of a follower. */
export interface FollowArgs {
  network: Network;
  /** Decimal digits. */
  fixedDifficulty: string | undefined;
  sample: number;
  deep: number;
  poll: number;
  timeout: number;
  start: Start;
  /** The stored state, if there is one. */
  state: Uint8Array | undefined;
  sources: SourceArgs[];
  followWasmUrl: string | undefined;
}

/** A hash to compute. */
export interface HashJob {
  job: number;
  seedHash: Uint8Array;
  blob: Uint8Array;
  /** Whether the cache must be filled anew, since the hash was wrong or accuses a source. */
  fresh: boolean;
}

/** A request that the follower sends for the worker. */
export interface RemoteRequest {
  id: number;
  /** The source whose `fetch` sends it. */
  source: number;
  url: string;
  body: string | undefined;
  /** Its name in messages. */
  label: string;
  /** The most bytes of the answer. */
  limit: number;
}

/** A question about the kept blocks, which the worker answers itself. */
export type Question =
  | { about: "headers"; first: number; last: number }
  | { about: "block"; block: Uint8Array }
  | { about: "transactions"; transactions: Uint8Array[] };

/** The answer to each question. */
export interface Answers {
  headers: ChainHeader[];
  block: ProvenBlock | undefined;
  transactions: (string | undefined)[];
}

/** A message to the worker. */
export type ToChain =
  /** With the name of a lock to hold, where there are locks. */
  | { kind: "begin"; args: FollowArgs; lock: string | undefined }
  | { kind: "hashed"; job: number; hash: Uint8Array }
  | { kind: "hash-failed"; job: number }
  | { kind: "find"; id: number; txid: string }
  | { kind: "stop-find"; id: number }
  | { kind: "question"; id: number; question: Question }
  /** The answer to a remote request begins. With `pieces` it is complete. */
  | {
      kind: "response";
      id: number;
      status: number;
      length: string | null;
      pieces?: Uint8Array<ArrayBuffer>[];
    }
  /** Its next bytes, or its end. */
  | { kind: "bytes"; id: number; bytes: Uint8Array | undefined }
  /** It failed. `failure` is there if the follower has found the reason. */
  | {
      kind: "no-response";
      id: number;
      message: string;
      failure?: { code: RandomXErrorCode; again: boolean };
    };

/** A message from the worker. */
export type FromChain =
  /** It has started. `refused` is the reason why the stored state was not used. */
  | { kind: "begun"; tip: PlainTip | null; refused: string | undefined }
  /** It holds the lock. */
  | { kind: "held"; lock: string }
  | { kind: "failed"; error: PlainError }
  | { kind: "hash"; jobs: HashJob[] }
  | { kind: "store"; state: Uint8Array }
  | { kind: "report"; report: PlainReport; failure: string | undefined }
  | { kind: "progress"; read: number; target: number }
  | { kind: "synced" }
  /** The answer to a question or a search. */
  | { kind: "answer"; id: number; answer: Answers[Question["about"]] | FoundTransaction }
  | { kind: "fetch"; request: RemoteRequest }
  /** The worker takes more bytes of a remote answer. */
  | { kind: "more"; id: number }
  | { kind: "cancel"; id: number };

/** A message of a follower or its worker. Its type distinguishes it from those of the workers that hash. */
export interface ChainMessage<M> {
  type: "chain";
  chain: M;
}
