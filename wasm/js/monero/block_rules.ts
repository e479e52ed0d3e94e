/**
 * Monero's rules for one block, in a worker. Nothing is kept from one request to the next, so that any worker can
 * answer, and the death of one loses nothing.
 */
import type { Args, Result } from "../protocol.js";

/** The exports that the WebAssembly modules for blocks and for chains share. */
export type BlockWasm = Pick<
  typeof import("../../block/pkg/randomx_block_wasm.js"),
  "examine" | "hashingBlob" | "meetsDifficulty" | "proofOfWork" | "seedHeight"
>;

/** Performs the operations on one block with a WebAssembly module. */
export class BlockRules {
  readonly #wasm: BlockWasm;

  constructor(wasm: BlockWasm) {
    this.#wasm = wasm;
  }

  /** Returns the height whose block id is the key at a height. */
  seedHeight({ height }: Args<"seedHeight">): Result<"seedHeight"> {
    return this.#wasm.seedHeight(height);
  }

  /** Returns whether a hash meets a difficulty. */
  checkDifficulty({ hash, difficulty }: Args<"checkDifficulty">): Result<"checkDifficulty"> {
    return this.#wasm.meetsDifficulty(hash, difficulty);
  }

  /** Returns the hashing blob of a block, or `undefined` if the block cannot be parsed. */
  hashingBlob(block: Uint8Array): Uint8Array | undefined {
    return this.#wasm.hashingBlob(block);
  }

  /** Checks a block by itself, and its proof of work if there is one and the block could be read. */
  examine(args: Args<"examine">): Result<"examine"> {
    const { block, hashingBlob, id, height, network, proof } = args;
    const found = this.#wasm.examine(block, hashingBlob, id, height, network);
    if (proof && found.hashingBlob) found.checks.push(this.proofOfWork(proof));
    return found;
  }

  /** Checks a proof of work. */
  proofOfWork({ hash, difficulty }: Args<"proofOfWork">): Result<"proofOfWork"> {
    return this.#wasm.proofOfWork(hash, difficulty);
  }
}
