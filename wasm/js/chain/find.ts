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

/** The milliseconds after which an answer is late. */
const LATE = 1000;

/**
 * How long searches waited at most for a node since it last showed a transaction, in milliseconds: 0 if it was never
 * late, and `Infinity` if it failed. Searches ask nodes in this order.
 */
const waits = new WeakMap<MoneroNode, number>();

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
  searched: Searched,
  txid: string,
  signal: AbortSignal,
): Promise<FoundTransaction | undefined> {
  const waitOf = (node: MoneroNode): number => waits.get(node) ?? 0;
  for (const node of searched.nodes().sort((a, b) => waitOf(a) - waitOf(b) || 0)) {
    const start = performance.now();
    let [found, wait]: [FoundTransaction | undefined, number] = [undefined, 0];
    try {
      found = await show(searched, node, txid, signal);
    } catch {
      // The next node may answer. A search that its caller has given up did not fail, but may have waited long.
      if (!signal.aborted) wait = Infinity;
    }
    wait = Math.max(wait, performance.now() - start);
    if (wait < LATE) wait = 0;
    waits.set(node, found ? wait : Math.max(wait, waitOf(node)));
    if (found || signal.aborted) return found;
  }
  return undefined;
}

/** Returns the place of a transaction, if this node can show it. */
async function show(
  { chain, examine }: Searched,
  node: MoneroNode,
  txid: string,
  signal: AbortSignal,
): Promise<FoundTransaction | undefined> {
  const height = await node.getTransactionHeight(txid, { signal });
  if (height === undefined || chain.idAt(height) === undefined) return undefined;
  const { blob } = await node.getBlock(height, { signal });
  const { id, transactionIds } = examine(blob);
  const [blockId, tip] = [chain.idAt(height), chain.tip()];
  if (blockId === undefined || tip === undefined || !id || hex(id) !== blockId) return undefined;
  if (!transactionIds.some((id) => hex(id) === txid)) return undefined;
  return { height, blockId, confirmations: tip - height + 1 };
}
