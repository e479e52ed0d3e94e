/**
 * What the client and the worker say to each other. Every request is answered by one
 * `result` or `failure` with its id, in the order of the requests; `progress` may come
 * before. After `died` the worker says nothing more.
 */
import type { RandomXErrorCode } from "./errors.js";
import type { Version } from "./validate.js";

/** What a worker can be asked: the arguments, checked by the client, and the result. */
export interface Operations {
  /** Loads the WebAssembly module and takes the lock, if it can. Asked once, first. */
  start: { args: { lock: string | undefined }; result: boolean };
  /** Makes the key's cache the one that is held. */
  prepare: { args: { key: Uint8Array }; result: undefined };
  /** Hashes an input, after preparing if need be. */
  hash: { args: { key: Uint8Array; input: Uint8Array; version: Version }; result: Uint8Array };
  /** Hashes inputs in lanes, after preparing if need be. */
  hashMany: {
    args: { key: Uint8Array; inputs: readonly Uint8Array[]; version: Version };
    result: Uint8Array[];
  };
  /** Hashes a blob by version 1 and compares; the difficulty is in decimal digits. */
  verifyBlock: {
    args: { seedHash: Uint8Array; hashingBlob: Uint8Array; difficulty: string };
    result: { valid: boolean; hash: Uint8Array };
  };
  /** Blake2b-256 of input and hash. */
  commitment: { args: { input: Uint8Array; hash: Uint8Array }; result: Uint8Array };
  /** The height whose block id is the key at a height. */
  seedHeight: { args: { height: number }; result: number };
}

/** The name of something that a worker can be asked. */
export type Operation = keyof Operations;

/** The arguments of an operation. */
export type Args<O extends Operation> = Operations[O]["args"];

/** The result of an operation. */
export type Result<O extends Operation> = Operations[O]["result"];

/** A request, discriminated by its operation. */
export type Request = {
  [O in Operation]: { type: "request"; id: number; operation: O; args: Args<O> };
}[Operation];

/** From the client. An abort of a request that was answered meanwhile means nothing. */
export type ToWorker = Request | { type: "abort"; id: number };

/** From the worker. */
export type FromWorker =
  | { type: "progress"; id: number; done: number }
  | { type: "result"; id: number; result: Result<Operation> }
  | { type: "failure"; id: number; error: PlainError }
  | { type: "died"; error: PlainError };

/** An error on its way between threads, where classes are lost. */
export interface PlainError {
  code: RandomXErrorCode;
  message: string;
}
