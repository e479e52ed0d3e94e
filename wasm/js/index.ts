/**
 * RandomX, the proof of work of Monero, verified in browsers, Node, Deno and Bun: see {@link RandomX}.
 *
 * @packageDocumentation
 */
export { RandomXError, type RandomXErrorCode } from "./errors.js";
export type { Configuration, CreateOptions } from "./options.js";
export { ChainFollower } from "./chain/follower.js";
export { FileStore, IndexedDBStore, MemoryStore, type Store } from "./chain/store.js";
export type {
  BlockRef,
  ChainAnchor,
  ChainBranch,
  ChainEvent,
  ChainHeader,
  ChainSource,
  ChainTip,
  DeepReorgEvent,
  DisagreementEvent,
  FailureEvent,
  FindOptions,
  FollowOptions,
  FoundTransaction,
  MissedEvent,
  ProgressEvent,
  ProvenBlock,
  ReorgEvent,
  SourceEvent,
  SourceState,
  SourceStatus,
  StaleEvent,
  SyncedEvent,
  TipEvent,
  UpdateNeededEvent,
} from "./chain/types.js";
export type { AbortOptions, HashOptions, PrepareOptions } from "./calls.js";
export type { Forgotten } from "./kept/storage.js";
export { RandomX } from "./randomx.js";
export type { Share, SharePatch } from "./shares/share.js";
export { ShareTemplate } from "./shares/template.js";
export type { ShareVerdict } from "./shares/verify.js";
export type { BlockStatus, BlockToVerify, Check, CheckName, Verdict } from "./monero/block.js";
export {
  type ChainBlock,
  type ChainBlocks,
  type ChainVerification,
  type VerifyChainOptions,
} from "./monero/chain.js";
export type { ChainVerdict } from "./monero/run.js";
export { MAINNET_GENESIS, type ChainCheckpoint } from "./monero/checkpoint.js";
export type { SlotStats, Stats } from "./stats.js";
export {
  MoneroNode,
  type MoneroNodeOptions,
  type NodeBlocksOptions,
  type NodeCallOptions,
} from "./monero/node.js";
export type { NodeBlock, NodeHeader, NodeInfo } from "./monero/answers.js";
export type {
  Bytes,
  Difficulty,
  Engine,
  Features,
  Mode,
  Network,
  Priority,
  Progress,
  Source,
  Times,
  Version,
  Waiting,
} from "./types.js";
