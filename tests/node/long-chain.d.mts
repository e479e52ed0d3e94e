/** As many blocks as between the main network's last two anchors. */
export const ANCHORED: number;

/** The blocks of a day. */
export const DAY: number;

/** The blocks that a client keeps, those of three days. */
export const KEPT: number;

/** A relay with a regtest chain. Every block has difficulty 1, so any hash is a proof of work. */
export class LongChain {
  private constructor();
  /** The height of the newest block that it serves. */
  height: number;
  /** Makes the chain, and starts to serve it. */
  static start(): Promise<LongChain>;
  /** Its address. */
  readonly url: string;
  /** The bytes that it has sent, with the heads of its answers. */
  readonly sent: number;
  /** The anchors: the genesis block, and the one from which proofs of work are checked. */
  readonly anchor: [Anchor, Anchor];
  /** Stops serving. */
  stop(): void;
}

/** Times in milliseconds. */
export interface FollowTimes {
  /** From the start to the second anchor: headers without proofs of work. */
  anchored: number;
  /** From there over a day of blocks, with their proofs of work and the filling of the caches. */
  day: number;
  /** A start with a store that has the blocks of three days. */
  restart: number;
  /** The bytes on the wire for a header. */
  bytes: number;
}

/**
 * Times following a long chain. `follow` takes a name of a store and a sample, follows the chain to its
 * newest block with the state in that store, and returns the milliseconds.
 */
export function timesOf(
  chain: LongChain,
  follow: (store: string, sample: number) => Promise<number>,
): Promise<FollowTimes>;

interface Anchor {
  height: number;
  id: string;
  work: string;
}
