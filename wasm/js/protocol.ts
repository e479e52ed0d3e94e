/**
 * The messages between the client and a worker. The worker answers requests one after another, each
 * with one `result` or `failure`, and may send `progress` before. The client sends the next request when
 * the one before is answered, except that a worker can have two batches to hash. `died` is the worker's
 * last message.
 */
import type {
  PlainCheck,
  PlainCheckpoint,
  PlainExamination,
  PlainVerdict,
  PlainWork,
} from "../monero/pkg/randomx_monero_wasm.js";
import type { RandomXErrorCode } from "./errors.js";
import type { Written } from "./kept/file.js";
import type { Engine, Features, Mode, Network, Times, Version } from "./types.js";

/** The operations of a worker: the arguments, which the client has checked, and the result. */
export interface Operations {
  /** Loads the native add-on or the WebAssembly module, and takes the lock if possible. Sent once, first. */
  start: {
    args: {
      lock: string | undefined;
      /** The engines to choose from. Native code is the first choice. */
      engines: readonly Engine[];
      mode: "auto" | Mode;
      /** The number of datasets that the process may hold. */
      datasets: number;
      /** The address of the native add-on, if it is not in its own package. */
      nativeUrl: string | undefined;
      /** The module, if another worker has compiled it already. */
      module: WebAssembly.Module | undefined;
      /** The module's address, if it is not beside the worker's script. */
      wasmUrl: string | undefined;
      /** The address of the module of Monero's rules for single blocks, likewise. */
      blockWasmUrl: string | undefined;
      /** The address of the module of Monero's rules for chains, likewise. */
      moneroWasmUrl: string | undefined;
      /** Features that the caller demands or forbids. The others are used where available. */
      features: Partial<Features>;
      lanes: number;
      /** The number of lanes that the caller has given. */
      givenLanes: number | undefined;
      /** The worker's place in the memory of each cache. */
      place: number;
      /** Whether caches are kept in the browser's storage. */
      keepsCaches: boolean;
      /** Whether the worker only fills caches, and lets all others go first. */
      isFiller: boolean;
    };
    result: {
      held: boolean;
      /** The module, unless native code hashes. */
      module: WebAssembly.Module | undefined;
      features: Features;
      /** The engines to choose from that there are. */
      engines: readonly [Engine, ...Engine[]];
      /** Why native code was not chosen. */
      notNative: string | undefined;
      /** The implementation of each primitive that native code uses. */
      implementations: string | undefined;
    };
  };
  /** Allocates the memory of a slot, which holds one key's cache after another. */
  allocate: { args: InSlot & { shared: boolean }; result: WebAssembly.Memory | undefined };
  /**
   * Fills the cache of a key, in shared memory or in the worker's own. If `mayRead`, it is read from the
   * browser's storage instead, where possible. If `isFresh`, native code takes no cache that other workers hold.
   */
  fill: { args: InSlot & CacheMemory & Fresh & { mayRead?: boolean }; result: Cache };
  /** Writes a slot's cache to the browser's storage. A message `abort` stops it. */
  keep: { args: InSlot & CacheMemory & Fresh; result: Written };
  /** Uses a cache that another worker has filled. */
  attach: { args: InSlot & { cache: Cache }; result: null };
  /** Drops a slot's cache and memory. */
  release: { args: InSlot; result: null };
  /** Measures what hashing inputs spends its time with. */
  measure: {
    args: InSlot & { version: Version; inputs: Inputs; engine: Engine };
    result: Times;
  };
  /** Hashes inputs in lanes, with the cache of a slot. */
  hash: {
    args: InSlot & {
      version: Version;
      inputs: Inputs;
      engine: Engine;
      /** Hashes that are computed together; all of them by default. */
      lanes?: number | undefined;
    };
    result: {
      /** The hashes one after another, 32 bytes each, of all inputs that can be read. */
      hashes: Uint8Array;
      /** The indexes of inputs that should be blocks and cannot be parsed. */
      unreadable: readonly number[];
      mode: Mode;
      /** The average time of a hash. Not finite if there was none, or if it was not measured. */
      milliseconds: number;
    };
  };
  /** Computes Blake2b-256 of input and hash. */
  commitment: { args: { input: Uint8Array; hash: Uint8Array }; result: Uint8Array };
  /** Starts to load Monero's rules for single blocks. The operations below need rules and wait for them. */
  loadRules: { args: null; result: null };
  /** Returns the height whose block id is the key at a height. */
  seedHeight: { args: { height: number }; result: number };
  /** Returns whether a hash meets a difficulty. */
  checkDifficulty: { args: Proof; result: boolean };
  /** Checks a block by itself, and its proof of work if there is one. */
  examine: { args: BlockArgs & { proof: Proof | undefined }; result: PlainExamination };
  /** Checks a proof of work. */
  proofOfWork: { args: Proof; result: PlainCheck };
  /** Judges blocks of a chain without their proofs of work, up to the first that breaks a rule. */
  chainWork: {
    args: ChainArgs;
    result: {
      /** The hashes that the blocks need. The list ends with `null` at a block that breaks a rule. */
      works: (PlainWork | null)[];
      verdicts: PlainVerdict[];
      /** Why the block after these cannot be judged. */
      failure: PlainError | undefined;
    };
  };
  /** Completes the verdicts on blocks. Their hashing blobs are enough. */
  chainVerdicts: {
    args: ChainArgs & {
      /** One for each block. `undefined` if the proof of work is not checked. */
      hashes: readonly (Uint8Array | undefined)[];
      /** The verdicts without proofs of work. One more than `links` if a block breaks a rule. */
      judged: readonly PlainVerdict[];
    };
    /** Without a checkpoint, the one before the blocks stays. */
    result: { verdicts: PlainVerdict[]; checkpoint: PlainCheckpoint | null };
  };
}

/** A block, and the claims about it. */
export interface BlockArgs {
  block: Uint8Array | undefined;
  hashingBlob: Uint8Array | undefined;
  id: Uint8Array | undefined;
  height: number | undefined;
  network: Network;
}

/** Blocks of a chain. */
export interface ChainArgs {
  /** The checkpoint before the first block, or that block's height. */
  start: PlainCheckpoint | number;
  links: readonly LinkArgs[];
  /** The number of the first of them in the caller's list, for errors. */
  first: number;
  network: Network;
  /** Whether the checkpoint may be incomplete or implausible. */
  allowIncomplete: boolean;
  /** Seconds since 1970. */
  now: number;
  /** The difficulty of every block in decimal digits, if it is fixed. */
  fixedDifficulty: string | undefined;
}

/** A block of a chain, and the claims about it. */
export interface LinkArgs extends Omit<BlockArgs, "network"> {
  seedHash: Uint8Array | undefined;
  difficulty: string | undefined;
}

/** A RandomX hash and the difficulty that it should meet, in decimal digits. */
export interface Proof {
  hash: Uint8Array;
  difficulty: string;
}

/** The slot of an operation, counted from 0. */
export interface InSlot {
  slot: number;
}

/** A key, and the memory of its cache, if that is shared. */
export interface CacheMemory {
  key: Uint8Array;
  memory: WebAssembly.Memory | undefined;
}

/** Whether a cache is filled anew, because another one of its key may be wrong. */
interface Fresh {
  isFresh?: boolean | undefined;
}

/** A filled cache, as workers share it. */
export interface Cache extends CacheMemory, Fresh {
  /** Computes dataset items from the memory. */
  items: WebAssembly.Module | undefined;
  /** The number by which the workers of an instance find a cache of native code. */
  id?: number;
  /** Whether it was read from the browser's storage. */
  isKept?: boolean;
}

/** An input to hash. */
export interface Input {
  bytes: Uint8Array;
  /** Changes, if the bytes are a template of several inputs. */
  patches?: readonly Patch[];
  /** Whether the input is a block, whose hashing blob is hashed. */
  isBlock?: boolean;
}

/** Bytes that differ from a template. */
export interface Patch {
  offset: number;
  bytes: Uint8Array;
}

/** Inputs in a message: one buffer for all, because each buffer of a message takes microseconds. */
export interface Inputs {
  /** The inputs, one after another. */
  bytes: Uint8Array<ArrayBuffer>;
  /** The number of bytes of each. */
  lengths: readonly number[];
  /** The indexes of blocks. */
  blocks: readonly number[];
}

/** The name of an operation. */
export type Operation = keyof Operations;

/** The arguments of an operation. */
export type Args<O extends Operation> = Operations[O]["args"];

/** The result of an operation. */
export type Result<O extends Operation> = Operations[O]["result"];

/** A request, discriminated by its operation. */
export type Request = {
  [O in Operation]: { type: "request"; operation: O; args: Args<O> };
}[Operation];

/** A message from the client. `abort` stops the current `fill` or `keep`, if there is one. */
export type ToWorker = Request | { type: "abort" };

/** A message from the worker. */
export type FromWorker =
  | { type: "progress"; done: number }
  | { type: "result"; result: Result<Operation> }
  | { type: "failure"; error: PlainError }
  | { type: "died"; error: PlainError };

/** An error between threads, where classes are lost. */
export interface PlainError {
  code: RandomXErrorCode;
  message: string;
}
