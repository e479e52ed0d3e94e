/**
 * What the client and a worker say to each other. The client asks one thing at a time, and
 * every request is answered by one `result` or `failure`; `progress` may come before. After
 * `died` the worker says nothing more.
 */
import type { RandomXErrorCode } from "./errors.js";
import type { Engine, Features } from "./options.js";
import type { Version } from "./validate.js";

/** What a worker can be asked: the arguments, checked by the client, and the result. */
export interface Operations {
  /** Loads the WebAssembly module and takes the lock, if it can. Asked once, first. */
  start: {
    args: {
      lock: string | undefined;
      /** The module, where another worker has compiled it already. */
      module: WebAssembly.Module | undefined;
      /** Where it is, if not beside the worker's script. */
      wasmUrl: string | undefined;
      /** Features that must or must not be used; the others are used where they are found. */
      features: Partial<Features>;
      lanes: number;
      /** Which place in the memory of each cache is this worker's. */
      place: number;
    };
    result: { held: boolean; module: WebAssembly.Module; features: Features };
  };
  /** Takes the memory of a slot, which is used for one key's cache after another. */
  allocate: { args: InSlot & { shared: boolean }; result: WebAssembly.Memory | undefined };
  /** Fills the cache of a key, in a memory that is shared or the worker's own. */
  fill: {
    args: InSlot & { key: Uint8Array; memory: WebAssembly.Memory | undefined };
    result: Cache;
  };
  /** Uses the cache that another worker has filled. */
  attach: { args: InSlot & { cache: Cache }; result: null };
  /** Lets go of a slot's cache and memory. */
  release: { args: InSlot; result: null };
  /** Measures which of the engines is the fastest. */
  calibrate: { args: { engines: readonly Engine[] }; result: Engine };
  /** Tells what hashes of inputs spend their time with. */
  measure: {
    args: InSlot & { version: Version; inputs: readonly Input[]; engine: Engine };
    result: Times;
  };
  /** Hashes inputs in lanes, with the cache of a slot. */
  hash: {
    args: InSlot & { version: Version; inputs: readonly Input[]; engine: Engine };
    result: readonly Hashed[];
  };
  /** Blake2b-256 of input and hash. */
  commitment: { args: { input: Uint8Array; hash: Uint8Array }; result: Uint8Array };
  /** Whether a hash meets a difficulty, in decimal digits. */
  checkDifficulty: { args: { hash: Uint8Array; difficulty: string }; result: boolean };
  /** The height whose block id is the key at a height. */
  seedHeight: { args: { height: number }; result: number };
}

/** Which slot an operation is about: a number from 0. */
export interface InSlot {
  slot: number;
}

/** A filled cache, as it is handed to other workers. */
export interface Cache {
  key: Uint8Array;
  /** Where it is, if it is shared. */
  memory: WebAssembly.Memory | undefined;
  /** Computes dataset items from it. */
  items: WebAssembly.Module;
}

/** What is hashed, and the difficulty that the hash is held against, in decimal digits. */
export interface Input {
  bytes: Uint8Array;
  difficulty?: string | undefined;
}

/** A hash, and whether it meets the difficulty of its input. */
export interface Hashed {
  hash: Uint8Array;
  valid: boolean;
}

/** Milliseconds, by what they were spent with. */
export interface Times {
  /** Filling scratchpads. */
  fill: number;
  /** Generating programs. */
  generate: number;
  /** Compiling programs, or bringing them into the form that the interpreter runs. */
  compile: number;
  /** Running programs. */
  execute: number;
  /** Computing dataset items. */
  items: number;
  /** Hashing scratchpads, which are filled for the next hashes in the same pass. */
  finish: number;
}

/** The name of something that a worker can be asked. */
export type Operation = keyof Operations;

/** The arguments of an operation. */
export type Args<O extends Operation> = Operations[O]["args"];

/** The result of an operation. */
export type Result<O extends Operation> = Operations[O]["result"];

/** A request, discriminated by its operation. */
export type Request = {
  [O in Operation]: { type: "request"; operation: O; args: Args<O> };
}[Operation];

/** From the client. `abort` ends a fill; where none is at work it means nothing. */
export type ToWorker = Request | { type: "abort" };

/** From the worker. */
export type FromWorker =
  | { type: "progress"; done: number }
  | { type: "result"; result: Result<Operation> }
  | { type: "failure"; error: PlainError }
  | { type: "died"; error: PlainError };

/** An error on its way between threads, where classes are lost. */
export interface PlainError {
  code: RandomXErrorCode;
  message: string;
}
