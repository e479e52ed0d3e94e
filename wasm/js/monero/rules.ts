/**
 * Monero's rules in a worker. Nothing is kept from one request to the next, so that any worker can
 * answer, and the death of one loses nothing.
 */
import type { Chain } from "../../monero/pkg/randomx_monero_wasm.js";
import type { Args, ChainArgs, LinkArgs, Result } from "../protocol.js";

/** The exports of the WebAssembly module. */
export type MoneroWasm = Pick<
  typeof import("../../monero/pkg/randomx_monero_wasm.js"),
  "Chain" | "examine" | "meetsDifficulty" | "proofOfWork" | "seedHeight"
>;

/** Performs the operations of Monero's rules with the WebAssembly module. */
export class Rules {
  readonly #wasm: MoneroWasm;

  constructor(wasm: MoneroWasm) {
    this.#wasm = wasm;
  }

  /** Returns the height whose block id is the key at a height. */
  seedHeight({ height }: Args<"seedHeight">): Result<"seedHeight"> {
    return this.#wasm.seedHeight(height);
  }

  /** Tells whether a hash meets a difficulty. */
  checkDifficulty({ hash, difficulty }: Args<"checkDifficulty">): Result<"checkDifficulty"> {
    return this.#wasm.meetsDifficulty(hash, difficulty);
  }

  /** Checks a block by itself, and its proof of work if there is one. */
  examine(args: Args<"examine">): Result<"examine"> {
    const { block, hashingBlob, id, height, network, proof } = args;
    const found = this.#wasm.examine(block, hashingBlob, id, height, network);
    if (proof) found.checks.push(this.proofOfWork(proof));
    return found;
  }

  /** Checks a proof of work. */
  proofOfWork({ hash, difficulty }: Args<"proofOfWork">): Result<"proofOfWork"> {
    return this.#wasm.proofOfWork(hash, difficulty);
  }

  /** Returns the hashes that blocks need, up to the first that breaks a rule. */
  chainWork(args: Args<"chainWork">): Result<"chainWork"> {
    return this.#with(args, (chain) => this.#push(chain, args));
  }

  /** Judges blocks, up to the first that breaks a rule. */
  chainVerdicts(args: Args<"chainVerdicts">): Result<"chainVerdicts"> {
    return this.#with(args, (chain) => {
      const verdicts: Result<"chainVerdicts">["verdicts"] = [];
      for (const index of this.#push(chain, args).keys()) {
        const verdict = chain.settle(args.hashes[index]);
        verdicts.push(verdict);
        if (!isAccepted(verdict)) break;
      }
      return { verdicts, checkpoint: chain.checkpoint() };
    });
  }

  #push(chain: Chain, { links, now }: ChainArgs): Result<"chainWork"> {
    const works: Result<"chainWork"> = [];
    for (const link of links) {
      const work = push(chain, link, now);
      works.push(work);
      if (!work) break;
    }
    return works;
  }

  #with<T>(args: ChainArgs, use: (chain: Chain) => T): T {
    const chain = this.#open(args);
    try {
      return use(chain);
    } finally {
      chain.free();
    }
  }

  #open({ start, network, allowIncomplete, fixedDifficulty }: ChainArgs): Chain {
    const chain =
      typeof start === "number"
        ? this.#wasm.Chain.beginAt(start, network)
        : this.#wasm.Chain.resume(
            start.height,
            start.id,
            start.work,
            start.timestamps,
            start.difficulties,
            start.seedHeights,
            start.seedIds,
            network,
            allowIncomplete,
          );
    // This consumes the chain, also when it throws.
    return fixedDifficulty === undefined ? chain : chain.withFixedDifficulty(fixedDifficulty);
  }
}

/** Tells whether later blocks can follow a block with this verdict. */
export function isAccepted({ status }: { status: string }): boolean {
  return status === "valid" || status === "unproven";
}

function push(chain: Chain, link: LinkArgs, now: number): ReturnType<Chain["push"]> {
  const { block, hashingBlob, id, height, seedHash, difficulty } = link;
  return chain.push(block, hashingBlob, id, height, seedHash, difficulty, now);
}
