/**
 * RandomX, the proof of work of Monero, verified in a browser: see {@link RandomX}.
 *
 * @packageDocumentation
 */
export { RandomXError, type RandomXErrorCode } from "./errors.js";
export type { Configuration, CreateOptions, Engine, Features } from "./options.js";
export { RandomX, type AbortOptions, type HashOptions, type PrepareOptions } from "./randomx.js";
export type { BlockToVerify, Check, CheckName, Verdict } from "./monero/block.js";
export {
  type ChainBlock,
  type ChainBlocks,
  type ChainVerdict,
  type ChainVerification,
  type VerifyChainOptions,
} from "./monero/chain.js";
export { MAINNET_GENESIS, type ChainCheckpoint } from "./monero/checkpoint.js";
export type { Progress } from "./job.js";
export type { Times } from "./protocol.js";
export type { Waiting } from "./queue.js";
export type { SlotStats, Stats } from "./stats.js";
export type { Source } from "./stream.js";
export {
  MoneroNode,
  type MoneroNodeOptions,
  type NodeBlocksOptions,
  type NodeCallOptions,
} from "./monero/node.js";
export type { NodeBlock, NodeHeader, NodeInfo } from "./monero/answers.js";
export type { Bytes, Difficulty, Network, Version } from "./validate.js";
