/**
 * RandomX, the proof of work of Monero, verified in a browser: see {@link RandomX}.
 *
 * @packageDocumentation
 */
export { RandomXError, type RandomXErrorCode } from "./errors.js";
export type { Configuration, CreateOptions, Engine, Features } from "./options.js";
export {
  RandomX,
  type AbortOptions,
  type BlockToVerify,
  type HashOptions,
  type PrepareOptions,
  type Verdict,
} from "./randomx.js";
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
export type { Bytes, Difficulty, Version } from "./validate.js";
