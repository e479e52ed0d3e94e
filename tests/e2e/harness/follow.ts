/** Chains that are followed in a browser. */
import {
  IndexedDBStore,
  type ChainSource,
  type FollowOptions,
  type RandomXError,
} from "../../../wasm/js/index.js";
import { sharedInstance, withInstance } from "./instance.js";
import { kill, liveWorkers } from "./workers.js";

/** A regtest chain to follow up to a tip. */
export interface Followable {
  sources: ChainSource[];
  /** The difficulty of every block, if it does not follow the rule. */
  fixedDifficulty?: number;
  /** The id of the tip. */
  tip: string;
  /** A transaction to look for. */
  txid: string;
}

/** The results of following a chain. */
export interface Followed {
  /** The types of the events, in order. */
  types: string[];
  /** The height of the first tip, which comes from the store if there is one. */
  first: number | undefined;
  tip: { height: number; id: string; work: string };
  /** The transaction's height and confirmations, if it was found. */
  found: { height: number; confirmations: number } | null;
}

/** Follows a chain to its tip, with a state in the database of a name, and looks for a transaction. */
export async function followed(
  { sources, fixedDifficulty, tip, txid }: Followable,
  name: string,
): Promise<Followed> {
  const randomx = await sharedInstance();
  const store = new IndexedDBStore(name);
  const types: string[] = [];
  let first: number | undefined;
  const chain = randomx.follow(sources, { network: "regtest", fixedDifficulty, poll: 1, store });
  for await (const event of chain) {
    types.push(event.type);
    if (event.type === "tip") first ??= event.tip.height;
    if (event.type === "synced" && event.tip.id === tip) {
      const { height, id, work } = event.tip;
      const found = (await chain.find(txid)) ?? null;
      // Leaving the loop closes the follower.
      return { types, first, tip: { height, id, work: String(work) }, found };
    }
  }
  throw new Error("the chain was not followed");
}

/**
 * Follows a chain to its end, then ends its worker without an event, as a browser does that is short of memory. Returns
 * the codes of the errors that the loop and a later question end with.
 */
export function lostFollower(sources: ChainSource[]): Promise<(string | undefined)[]> {
  // One worker, which hashes before the follower starts its own. So the newest one is the follower's.
  return withInstance({ threads: 1 }, async (randomx) => {
    await randomx.prepare(new Uint8Array(32));
    const chain = randomx.follow(sources, { network: "regtest", poll: 1 });
    const codeOf = (error: unknown): string => (error as RandomXError).code;
    let loop: string | undefined;
    try {
      for await (const event of chain) {
        if (event.type === "synced") kill(liveWorkers() - 1);
      }
    } catch (error) {
      loop = codeOf(error);
    }
    return [loop, await chain.headers(0, 1).then(() => undefined, codeOf)];
  });
}

/** Follows a chain to a height, with a state in the database of a name, and returns the milliseconds. */
export async function followTime(
  relay: string,
  options: FollowOptions,
  height: number,
  name: string,
): Promise<number> {
  const randomx = await sharedInstance();
  const store = new IndexedDBStore(name);
  const start = performance.now();
  for await (const event of randomx.follow([{ relay }], { ...options, store })) {
    if (event.type === "synced" && event.tip.height === height) return performance.now() - start;
  }
  throw new Error("the chain was not followed");
}
