/**
 * What the client and a worker say to each other. The client asks one thing at a time, and
 * every request is answered by one `result` or `failure`; `progress` may come before. After
 * `died` the worker says nothing more.
 */
import type { Front } from "./ahead.js";
import type { RandomXErrorCode } from "./errors.js";
import type { Engine, Features } from "./options.js";
import type {
  PlainCheckpoint,
  PlainExamination,
  PlainVerdict,
  PlainWork,
} from "../monero/pkg/randomx_monero_wasm.js";
import type { Network, Version } from "./validate.js";

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
      /** Where Monero's rules are, likewise. */
      moneroWasmUrl: string | undefined;
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
    args: InSlot & {
      key: Uint8Array;
      memory: WebAssembly.Memory | undefined;
      /** What is moved for `goAhead`, where the memory is new. */
      front?: Front | undefined;
    };
    result: Cache;
  };
  /** Touches the pages of a new memory while another worker fills it. */
  goAhead: { args: { memory: WebAssembly.Memory; front: Front }; result: null };
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
  /** Begins to load Monero's rules, which the operations below need; they wait for them. */
  loadRules: { args: null; result: null };
  /** The height whose block id is the key at a height. */
  seedHeight: { args: { height: number }; result: number };
  /** Whether a hash meets a difficulty. */
  checkDifficulty: { args: Proof; result: boolean };
  /** Looks at a block by itself, and at its proof of work if there is one. */
  examine: { args: BlockArgs & { proof: Proof | undefined }; result: PlainExamination };
  /** The proofs of work that blocks of a chain need: none from a block on that is not valid. */
  chainWork: { args: ChainArgs; result: (PlainWork | null)[] };
  /** Judges blocks of a chain, up to one that is not valid. */
  chainVerdicts: {
    args: ChainArgs & {
      /** One for each block that needs one; `undefined` for what was not looked at. */
      hashes: readonly (Uint8Array | undefined)[];
    };
    result: { verdicts: PlainVerdict[]; checkpoint: PlainCheckpoint | null };
  };
}

/** A block, and what is said of it. */
export interface BlockArgs {
  block: Uint8Array | undefined;
  hashingBlob: Uint8Array | undefined;
  id: Uint8Array | undefined;
  height: number | undefined;
  network: Network;
}

/** Blocks of a chain. */
export interface ChainArgs {
  /** The checkpoint that they follow on, or the height that they begin at. */
  start: PlainCheckpoint | number;
  links: readonly LinkArgs[];
  network: Network;
  /** Whether the checkpoint may be incomplete or implausible. */
  allowIncomplete: boolean;
  /** Seconds since 1970. */
  now: number;
  /** What every block must meet, in decimal digits, if that is fixed. */
  fixedDifficulty: string | undefined;
}

/** A block of a chain, and what is said of it. */
export interface LinkArgs extends Omit<BlockArgs, "network"> {
  seedHash: Uint8Array | undefined;
  difficulty: string | undefined;
}

/** A RandomX hash, and what it should meet, in decimal digits. */
export interface Proof {
  hash: Uint8Array;
  difficulty: string;
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

/** What is hashed. */
export interface Input {
  bytes: Uint8Array;
}

/** A hash. */
export interface Hashed {
  hash: Uint8Array;
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
