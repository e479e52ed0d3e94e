/** The search for a transaction, which nodes answer and the chain proves. */
import type { PlainExamination } from "../../follow/pkg/randomx_follow_wasm.js";
import { SEARCHES, Semaphore } from "../budget.js";
import { hex } from "../monero/hex.js";
import type { MoneroNode } from "../monero/node.js";
import type { FoundTransaction } from "./types.js";

/** The parts that a search needs. */
interface Searched {
  /** Returns a new list of the nodes that may be asked. */
  nodes: () => MoneroNode[];
  /** The trusted chain. */
  chain: {
    /** Returns the id of the block at a height, if it is known. */
    idAt: (height: number) => string | undefined;
    /** Returns the height of the tip. */
    tip: () => number | undefined;
  };
  /** Parses a block, and computes its id from the tree of its transactions' ids. */
  examine: (block: Uint8Array) => PlainExamination;
}

/** Permits of searches. Without this limit, a late node could hold all requests of the thread. */
const searches = new Semaphore(SEARCHES);

/** Nodes that have failed since they last showed a transaction. Searches ask them last. */
const failing = new WeakSet<MoneroNode>();

/**
 * Returns the place of a transaction, if one of the nodes can show it. A node that lies about the place
 * sends a block that is not the chain's, or that lacks the transaction.
 */
export async function findTransaction(
  searched: Searched,
  txid: string,
  signal: AbortSignal,
): Promise<FoundTransaction | undefined> {
  try {
    await searches.acquire(signal);
  } catch {
    // The caller has given up.
    return undefined;
  }
  try {
    return await search(searched, txid, signal);
  } finally {
    searches.release();
  }
}

async function search(
  { nodes, chain, examine }: Searched,
  txid: string,
  signal: AbortSignal,
): Promise<FoundTransaction | undefined> {
  const ordered = nodes().sort((a, b) => Number(failing.has(a)) - Number(failing.has(b)));
  for (const node of ordered) {
    if (signal.aborted) return undefined;
    try {
      const height = await node.getTransactionHeight(txid, { signal });
      if (height === undefined || chain.idAt(height) === undefined) continue;
      const { blob } = await node.getBlock(height, { signal });
      const { id, transactionIds } = examine(blob);
      const [blockId, tip] = [chain.idAt(height), chain.tip()];
      if (blockId === undefined || tip === undefined || !id || hex(id) !== blockId) continue;
      if (!transactionIds.some((id) => hex(id) === txid)) continue;
      failing.delete(node);
      return { height, blockId, confirmations: tip - height + 1 };
    } catch {
      // The next node may answer.
      failing.add(node);
    }
  }
  return undefined;
}
