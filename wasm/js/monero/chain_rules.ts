/**
 * Monero's rules for chains. A worker loads this module only when it verifies a chain. As in {@link BlockRules}, nothing
 * is kept from one request to the next.
 */
import type { Chain } from "../../monero/pkg/randomx_monero_wasm.js";
import { asRandomXError } from "../errors.js";
import type { Args, ChainArgs, LinkArgs, Result } from "../protocol.js";
import { isAccepted } from "./accepted.js";
import { BlockRules, type BlockWasm } from "./block_rules.js";

/** The exports of the WebAssembly module for chains. */
type ChainWasm = BlockWasm &
  Pick<typeof import("../../monero/pkg/randomx_monero_wasm.js"), "Chain">;

/** Performs the operations on chains too, with the WebAssembly module for chains. */
export class ChainRules extends BlockRules {
  readonly #chain: ChainWasm["Chain"];

  constructor(wasm: ChainWasm) {
    super(wasm);
    this.#chain = wasm.Chain;
  }

  /** Judges blocks without their proofs of work, up to the first that breaks a rule. */
  chainWork(args: Args<"chainWork">): Result<"chainWork"> {
    return this.#with(args, (chain) => {
      const { works, failure } = pushed(chain, args);
      return { works, verdicts: works.map(() => chain.settle(undefined)), failure };
    });
  }

  /** Completes verdicts, up to the first block whose proof of work fails. */
  chainVerdicts(args: Args<"chainVerdicts">): Result<"chainVerdicts"> {
    const { links, hashes, judged } = args;
    return this.#with(args, (chain) => {
      const verdicts: Result<"chainVerdicts">["verdicts"] = [];
      pushed(chain, args);
      for (const [index, before] of judged.entries()) {
        // A block that breaks another rule is judged already.
        const isRefused = index === links.length;
        const verdict = isRefused ? before : completed(before, chain.settle(hashes[index]));
        verdicts.push(verdict);
        if (!isAccepted(verdict)) return { verdicts, checkpoint: null };
      }
      return { verdicts, checkpoint: chain.checkpoint() };
    });
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
        ? this.#chain.beginAt(start, network)
        : this.#chain.resume(
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

type Plain = Result<"chainVerdicts">["verdicts"][number];

/** Returns the verdict on a whole block, from that on its hashing blob, which has the proof of work. */
function completed(before: Plain, verdict: Plain): Plain {
  const isProof = ({ name }: { name: string }): boolean => name === "proof-of-work";
  const others = before.checks.filter((check) => !isProof(check));
  const checks = [...others, ...verdict.checks.filter(isProof)];
  return { ...verdict, transactionIds: before.transactionIds, checks };
}

/** Pushes blocks, up to the first that breaks a rule or cannot be judged. */
function pushed(
  chain: Chain,
  { links, first, now }: ChainArgs,
): Pick<Result<"chainWork">, "works" | "failure"> {
  const works: Result<"chainWork">["works"] = [];
  for (const link of links) {
    try {
      const work = push(chain, link, now);
      works.push(work);
      if (!work) break;
    } catch (thrown) {
      const { code, message } = asRandomXError(thrown);
      if (code !== "invalid-argument") throw thrown;
      const name = `blocks[${(first + works.length).toString()}]`;
      return { works, failure: { code, message: `${name}.${message}` } };
    }
  }
  return { works, failure: undefined };
}

function push(chain: Chain, link: LinkArgs, now: number): ReturnType<Chain["push"]> {
  const { block, hashingBlob, id, height, seedHash, difficulty } = link;
  return chain.push(block, hashingBlob, id, height, seedHash, difficulty, now);
}
