/** Verifies a range of a node's blocks, one after another. */
import {
  MoneroNode,
  RandomXError,
  type ChainCheckpoint,
  type ChainVerdict,
  type NodeBlock,
} from "../../../wasm/js/index.js";
import { engine } from "../../engine/engine.js";
import { failure, hex, whole } from "../../shell/words.js";
import type { Blocks, Ending } from "./blocks.js";
import { whyUndecided } from "./headline.js";
import type { Subject } from "./subject.js";

/** The heights to verify. */
export interface Range {
  url: string;
  first: number;
  last: number;
}

const STOPPED: Ending = { state: "cancelled", words: "Stopped." };

/** The most bytes of blobs that are kept for the report. */
const KEPT_BYTES = 16 << 20;

/** The checkpoints that this page has reached itself, by the address of the node. */
const verified = new Map<string, ChainCheckpoint>();

/** Verifies a range, shows its progress, and returns how it ended. Never rejects. */
export async function verifyRange(
  range: Range,
  blocks: Blocks,
  signal: AbortSignal,
): Promise<Ending> {
  const { url, first, last } = range;
  blocks.begin("Waiting for the node…");
  const node = new MoneroNode(url);
  try {
    const known = verified.get(url);
    const own = known?.height === first - 1 ? known : undefined;
    const checkpoint = own ?? (await node.getCheckpoint(first - 1, { signal }));
    const randomx = await engine(signal);
    const keeper = new Keeper(url, checkpoint);
    const chain = randomx.verifyChain(keeper.keep(node.getBlocks(first, last, { signal })), {
      checkpoint,
      signal,
      onProgress: ({ phase, done }) => {
        if (signal.aborted || phase !== "cache" || done === 1) return;
        blocks.update("Filling the cache of a seed hash…", `${Math.floor(100 * done)} %`);
      },
    });
    let reached = first - 1;
    for await (const verdict of chain) {
      const seedHeight = await randomx.seedHeight(verdict.height, { signal });
      // Another run may have started meanwhile.
      if (signal.aborted) return STOPPED;
      if (own && verdict.height === first && isParted(verdict)) {
        // This page may be the one whose block is not in the chain any more.
        verified.delete(url);
        const before = `block ${whole(first - 1)}`;
        const words =
          `Block ${whole(first)} does not follow ${before} as this page verified it: the chain was reorganised, ` +
          `or the node lies. The next run trusts the node about ${before} again.`;
        return { state: "failed", words };
      }
      blocks.add(verdict, keeper.subject(verdict, seedHeight));
      if (verdict.status === "update-needed") {
        const words = `Block ${whole(verdict.height)} cannot be judged: ${whyUndecided(verdict.checks)}.`;
        return { state: "failed", words };
      }
      if (!verdict.valid) {
        return { state: "invalid", words: `Rejected: block ${whole(verdict.height)} is invalid.` };
      }
      const done = (verdict.height - first + 1) / (last - first + 1);
      const words = `Block ${whole(verdict.height)} of ${whole(last)} is valid.`;
      blocks.update("Verifying the blocks…", words, done);
      reached = verdict.height;
    }
    if (chain.checkpoint) verified.set(url, chain.checkpoint);
    if (reached < last) {
      const words = await beyond(node, range, signal);
      return {
        state: "failed",
        words: words ?? `The node’s chain ended after block ${whole(reached)}.`,
      };
    }
    const before = own ? "which this page has verified" : "for which the page trusts the node";
    const count = last - first + 1;
    const subject =
      count === 1
        ? "The block is valid, and follows"
        : `All ${whole(count)} blocks are valid, and follow`;
    return { state: "valid", words: `${subject} block ${whole(first - 1)}, ${before}.` };
  } catch (error) {
    const code = error instanceof RandomXError ? error.code : undefined;
    if (code === "aborted") return STOPPED;
    // A node that does not answer is not asked once more.
    const isRefused = code === "node-refused" || code === "node-invalid";
    const words = isRefused ? await beyond(node, range, signal) : undefined;
    return { state: "failed", words: words ?? failure(error) };
  }
}

/** Returns whether a block names another one as the block before it. */
function isParted({ checks }: ChainVerdict): boolean {
  return checks.some(({ name, passed }) => name === "previous-id" && passed === false);
}

/** Explains a failure by the length of the node's chain, if the range ends beyond it. */
async function beyond(
  node: MoneroNode,
  { last }: Range,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const { height } = await node.getInfo({ signal });
    if (last < height) return undefined;
    return (
      `The node’s chain has ${whole(height)} blocks so far: its last one is ` +
      `${whole(height - 1)}, and block ${whole(last)} was asked for.`
    );
  } catch {
    return undefined;
  }
}

/** Keeps the node's blocks for the report, and the ids that are keys. */
class Keeper {
  readonly #origin: string;
  readonly #seeds: Map<number, string>;
  readonly #blocks = new Map<number, NodeBlock>();
  #bytes = 0;

  constructor(url: string, { seeds }: ChainCheckpoint) {
    this.#origin = `From the node ${new URL(url).host}`;
    this.#seeds = new Map(seeds.map(({ height, id }) => [height, id]));
  }

  async *keep(blocks: AsyncIterable<NodeBlock>): AsyncGenerator<NodeBlock, void, undefined> {
    for await (const block of blocks) {
      this.#bytes += block.blob.length;
      if (this.#bytes <= KEPT_BYTES) this.#blocks.set(block.header.height, block);
      yield block;
    }
  }

  /** Returns a block in the form that verifies it alone, if it was kept. */
  subject({ height, id, difficulty }: ChainVerdict, seedHeight: number): Subject | undefined {
    // This block's id may be the key of later blocks.
    if (id) this.#seeds.set(height, hex(id));
    const block = this.#blocks.get(height);
    const seedHash = this.#seeds.get(seedHeight);
    if (!block || seedHash === undefined) return undefined;
    const { header, blob } = block;
    return {
      origin: this.#origin,
      ...(id ? { title: `Block ${whole(height)}` } : {}),
      block: hex(blob),
      seedHash,
      difficulty: header.difficulty.toString(),
      // The chain's difficulty is null if an earlier check failed. Then the node's claim is shown.
      ...(difficulty === null ? { difficultyName: "Claimed by the node" } : {}),
      expectedId: header.id,
      height,
    };
  }
}
