/** Types of the public interface that several modules share. This module imports nothing. */

/** Bytes as a `Uint8Array`, or as a string of two hexadecimal digits a byte, in either case. */
export type Bytes = Uint8Array | string;

/** RandomX 1, which Monero runs, or RandomX 2. */
export type Version = 1 | 2;

/** A difficulty from 1 to 2^256 - 1. A string holds decimal digits only. */
export type Difficulty = bigint | number | string;

/** The priorities of requests, the highest first. */
export const PRIORITIES = ["high", "normal", "low"] as const;

/** The priority of a request. */
export type Priority = (typeof PRIORITIES)[number];

/** A network of Monero nodes. `regtest` is a private chain of `monerod --regtest`. */
export type Network = "mainnet" | "stagenet" | "testnet" | "regtest";

/** The engine that runs programs in WebAssembly: modules that are generated for each program, or the interpreter. */
export type WasmEngine = "jit" | "interpreter";

/** The engine that hashes: the native add-on for Node, Deno and Bun, or one of WebAssembly's engines. */
export type Engine = "native" | WasmEngine;

/**
 * The source of a VM's dataset items: in light mode it computes them from a cache of 256 MiB, in fast mode
 * it reads them from a dataset of 2080 MiB.
 */
export type Mode = "light" | "fast";

/** Features that only some JavaScript engines have. Each is used where it is available. */
export interface Features {
  /** Relaxed SIMD with a multiply-and-add that rounds once. */
  fusedMultiplyAdd: boolean;
  /** Products of 128 bits. */
  wideArithmetic: boolean;
  /** Memory that threads share. In browsers only cross-origin isolated pages have it. */
  sharedMemory: boolean;
}

/** Progress of a call. */
export interface Progress {
  /**
   * `load`: workers start and load the WebAssembly module. `cache`: the cache of the key is filled.
   * `hash`: inputs are hashed. A call goes through the phases that it needs, in this order.
   */
  phase: "load" | "cache" | "hash";
  /** The part of the phase that is done, 0 to 1. Each phase ends with 1, unless the call turns out not to need it. */
  done: number;
}

/** How a request is followed and stopped. */
export interface Follow {
  /** Aborting it rejects the request at once. */
  signal?: AbortSignal | undefined;
  /** Receives the progress. */
  onProgress?: ((progress: Progress) => void) | undefined;
}

/** Milliseconds that hashing spends with each kind of work. */
export interface Times {
  /** Filling scratchpads. */
  fill: number;
  /** Generating programs. */
  generate: number;
  /** Compiling programs, or decoding them for the interpreter. */
  compile: number;
  /** Running programs. */
  execute: number;
  /** Computing dataset items. */
  items: number;
  /** Hashing scratchpads. The same pass fills them for the next hashes. */
  finish: number;
}

/** The amount of waiting work. */
export interface Waiting {
  /** Calls of the instance's methods. */
  requests: number;
  /** Inputs that no worker has yet. */
  inputs: number;
  /** Bytes of keys, inputs and blocks. */
  bytes: number;
}

/** Inputs, all at once or one after another. */
export type Source<T> = Iterable<T> | AsyncIterable<T>;
