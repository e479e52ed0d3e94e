/** Types of the light client's public interface. */
import type { RandomXError } from "../errors.js";
import type { ChainCheckpoint } from "../monero/checkpoint.js";
import type { Difficulty, Network } from "../types.js";
import type { Store } from "./store.js";

/**
 * A source of headers: a Monero node, or a relay that `randomx relay` runs. A relay needs less traffic;
 * a node is needed for {@link ChainFollower.find}. No source is trusted. `fetch` sends the requests, for
 * instance through Tor or with a login; without it a worker sends them. Its answers need a `ReadableStream`
 * as their body.
 */
export type ChainSource =
  | { node: string | URL; fetch?: typeof globalThis.fetch | undefined }
  | { relay: string | URL; fetch?: typeof globalThis.fetch | undefined };

/** A block that the caller trusts, and the chain's work up to it: one of Monero's own checkpoints. */
export interface ChainAnchor {
  height: number;
  /** The block's id, 32 bytes in hex. */
  id: string;
  /** The sum of the difficulties of all blocks up to this one. */
  work: bigint | string;
}

/** How a chain is followed. */
export interface FollowOptions {
  /** The network. `mainnet` by default. */
  network?: Network | undefined;
  /** Where the state is kept. In memory by default: each start is a first start then. */
  store?: Store | undefined;
  /**
   * Where a first start begins. By default at blocks that Monero's own source code names, and on
   * `regtest` at the genesis block. Otherwise a checkpoint, as `verifyChain` has it, or two anchors,
   * the earlier one first; the caller trusts these. The state in the store comes first.
   */
  anchor?: ChainCheckpoint | readonly [ChainAnchor, ChainAnchor] | undefined;
  /**
   * Checks the proof of work of one block in `sample`, besides the newest 16 of each batch: 1 (the
   * default) checks all. The blocks are chosen after they have arrived. A batch of up to 256 blocks with
   * `k` forged ones goes unnoticed with a chance of at most `(1 - 1/sample)^k`, and only if its newest
   * blocks have real proofs of work. A side that replaces blocks is checked completely.
   */
  sample?: number | undefined;
  /** The difficulty of every block, below 2^128, on a chain of `monerod --fixed-difficulty`. */
  fixedDifficulty?: Difficulty | undefined;
  /** Reverted blocks from which a reorganisation is announced before it is adopted. 10 by default. */
  deep?: number | undefined;
  /** Seconds between questions for a source's newest block, 1 to 3600. 30 by default. */
  poll?: number | undefined;
  /** Milliseconds that a source may take for an answer. 30,000 by default. */
  timeout?: number | undefined;
  /** Aborting it ends the following. The iterator rejects with code `aborted`. */
  signal?: AbortSignal | undefined;
}

/** A block of the chain. */
export interface BlockRef {
  height: number;
  /** The block's id, 64 lower-case hex digits. */
  id: string;
}

/** The newest trusted block. Its own proof of work was checked. */
export interface ChainTip extends BlockRef {
  /** Seconds since 1970, as the block says. */
  timestamp: number;
  /** The chain's work up to this block. Counted from the start if the start's work was unknown. */
  work: bigint;
}

/** A block that is kept, without its transactions. All of it follows from the block's id. */
export interface ChainHeader extends BlockRef {
  majorVersion: number;
  minorVersion: number;
  /** Seconds since 1970, as the block says. */
  timestamp: number;
  /** The id of the block before it. */
  previousId: string;
  nonce: number;
  /** The number of its transactions, the miner's included. At most 2^53 - 1, which only a false count exceeds. */
  transactions: number;
  difficulty: bigint;
  /** The chain's work up to this block. */
  work: bigint;
}

/** A block that is kept, with its transactions. */
export interface ProvenBlock extends ChainHeader {
  /** The ids of its transactions, the miner's first. */
  transactionIds: string[];
}

/** One side of a fork: the blocks after the last common one, the oldest first. */
export interface ChainBranch {
  blocks: BlockRef[];
  /** The work of these blocks. */
  work: bigint;
}

/**
 * The state of a source. Only `invalid` is an accusation: the source sent something that is proven
 * false, and is asked no more.
 *
 * - `connecting`: it has not answered yet, or its chain is still read.
 * - `following`: its chain was read up to its newest block.
 * - `behind`: its chain ends before the client's, or has a branch that is too long to be read while it
 *   has less work.
 * - `unresponsive`: several requests in a row had no usable answer, or its chain changed several times
 *   before it had been read. Or its next block is too far ahead of the clock, and so are those of all
 *   other sources. The client keeps trying.
 * - `other-network`: its chain lacks a block of the client's that cannot be replaced.
 * - `update-needed`: it has a block whose version is newer than this release knows, or than it expects at
 *   the height.
 */
export type SourceState =
  | "connecting"
  | "following"
  | "behind"
  | "unresponsive"
  | "other-network"
  | "update-needed"
  | "invalid";

/** A source and its state. */
export interface SourceStatus {
  /** Its place in the list of sources. */
  index: number;
  kind: "node" | "relay";
  /** Its address. */
  url: string;
  state: SourceState;
  /** Why it is `invalid` or `unresponsive`. */
  reason?: string;
}

/**
 * The chain grew. While many blocks arrive, only each batch's newest is reported. An unread event is
 * replaced, unless a reorganisation follows it.
 */
export interface TipEvent {
  type: "tip";
  tip: ChainTip;
}

/**
 * A side with more work has replaced the end of the chain. All its proofs of work were checked. If `adopted`
 * is empty, nothing replaced the end: the client read the difficulties of the first start anew, and hashes of
 * the reverted blocks may miss them.
 */
export interface ReorgEvent {
  type: "reorg";
  /** The new tip. */
  tip: ChainTip;
  /** The last common block. */
  common: BlockRef;
  /** The number of reverted blocks. */
  depth: number;
  reverted: ChainBranch;
  adopted: ChainBranch;
}

/**
 * A source has a branch with more work that would revert many blocks (`deep`). If all its proofs of work
 * hold, `reorg` follows.
 */
export interface DeepReorgEvent {
  type: "deep-reorg";
  source: SourceStatus;
  /** The last common block. */
  common: BlockRef;
  /** The number of blocks that would be reverted. */
  depth: number;
  reverted: ChainBranch;
  /** The known blocks of the other side. */
  adopted: ChainBranch;
}

/**
 * A source's chain differs from the client's, and the proof of work of its newest block was checked. Short
 * forks are normal.
 */
export interface DisagreementEvent {
  type: "disagreement";
  source: SourceStatus;
  /** The last common block. */
  common: BlockRef;
  ours: ChainBranch;
  theirs: ChainBranch;
  /** Both sides' blocks, as a file that `randomx verify --evidence` checks without a network. */
  evidence: Uint8Array;
}

/**
 * The chain no longer grows as it should, or does so again: the network is in trouble, or the sources
 * cut the client off. `stale`: the tip is older than an hour. `slow`: the last 60 blocks took more than
 * twice as long as their difficulties predict. `cleared`: neither. Times are in seconds.
 */
export type StaleEvent = { type: "stale" } & (
  | { alarm: "stale"; age: number }
  | { alarm: "slow"; took: number; expected: number }
  | { alarm: "cleared" }
);

/** The state of a source changed. */
export interface SourceEvent {
  type: "source";
  source: SourceStatus;
  /** The proof against an `invalid` source, as a file; see {@link DisagreementEvent.evidence}. */
  evidence?: Uint8Array;
}

/**
 * A source has a block whose version is newer than this release knows, or than it expects at the height. It
 * never counts as valid.
 */
export interface UpdateNeededEvent {
  type: "update-needed";
  source: SourceStatus;
  /** The block's height. */
  height: number;
  /** Its major version. */
  version: number;
}

/** How far the client is. Heights of sources are only claims. An unread event is replaced. */
export interface ProgressEvent {
  type: "progress";
  /**
   * The height up to which headers were read; at least `checked`. It falls if headers are read again, or if a
   * source no longer counts.
   */
  read: number;
  /** The height of the tip, or `undefined` before a first start has reached its anchor. */
  checked: number | undefined;
  /** The greatest height that a `connecting` or `following` source claims; at least `read`. */
  target: number;
}

/** The chain of each source that answers was followed to its end, for now. An unread event is replaced. */
export interface SyncedEvent {
  type: "synced";
  tip: ChainTip;
}

/**
 * A hash could not be computed, for lack of memory for example, or the store failed. Following goes
 * on: the client tries again, and a damaged state is replaced by a first start.
 */
export interface FailureEvent {
  type: "failure";
  part: "hash" | "store";
  error: RandomXError;
}

/** The loop was too slow, and so many events were dropped, the oldest first. Read `tip` again. */
export interface MissedEvent {
  type: "missed";
  count: number;
}

/** An event of a followed chain. Switch on `type`. */
export type ChainEvent =
  | TipEvent
  | ReorgEvent
  | DeepReorgEvent
  | DisagreementEvent
  | StaleEvent
  | SourceEvent
  | UpdateNeededEvent
  | ProgressEvent
  | SyncedEvent
  | FailureEvent
  | MissedEvent;

/** A transaction's place in the chain, proven by its block's tree of hashes. */
export interface FoundTransaction {
  height: number;
  /** The id of its block, which is part of the client's chain. */
  blockId: string;
  /** The number of blocks from its block to the tip, both included. */
  confirmations: number;
}

/** How a transaction is looked for. */
export interface FindOptions {
  /** Aborting it rejects the call at once with code `aborted`. */
  signal?: AbortSignal | undefined;
}
