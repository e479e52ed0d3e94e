/** Simulated chains of regtest blocks, all of difficulty 1 unless a chain fixes another. */
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";
import { MAINNET_GENESIS } from "../../../wasm/js/index.js";
import { madeBlock, rules } from "../monero/support.js";

/** A block of a simulated chain. */
export interface SimulatedBlock {
  height: number;
  id: string;
  /** The whole block, and what of it is hashed. Empty for the genesis block. */
  block: Uint8Array;
  hashingBlob: Uint8Array;
  timestamp: number;
  /** The id of the miner's transaction. */
  minerTransaction: string;
}

const GENESIS: SimulatedBlock = {
  height: 0,
  id: MAINNET_GENESIS.id,
  block: new Uint8Array(),
  hashingBlob: new Uint8Array(),
  timestamp: 0,
  minerTransaction: "",
};

/** The offset of the nonce, after two versions, a timestamp of five bytes and the previous id. */
const NONCE = 2 + 5 + 32;

/** The timestamp that `madeBlock` gives a block with 0 seconds. */
const START = 1_700_000_000;

/** How blocks are made. */
export interface Making {
  /** Seconds between blocks. */
  pace?: number;
  /** Distinguishes chains that are otherwise alike. */
  nonce?: number;
  /** The timestamp of the chain's first block, in seconds since 1970. */
  start?: number;
  /** Alters a block before its id is computed. */
  alter?: (block: Uint8Array) => Uint8Array;
}

/** Returns a chain of the genesis block and so many after it. */
export function chainOf(count: number, making: Making = {}): SimulatedBlock[] {
  return extended([GENESIS], count, making);
}

/** Returns a chain with more blocks. */
export function extended(
  chain: readonly SimulatedBlock[],
  count: number,
  making: Making = {},
): SimulatedBlock[] {
  const blocks = [...chain];
  for (let index = 0; index < count; index += 1)
    blocks.push(child(blocks.at(-1) ?? GENESIS, making));
  return blocks;
}

/** Returns a block that follows another. */
export function child(
  parent: SimulatedBlock,
  { pace = 120, nonce = 0, start = START, alter = (block) => block }: Making = {},
): SimulatedBlock {
  const height = parent.height + 1;
  const timestamp = Math.max(parent.timestamp + pace, start);
  const made = madeBlock(height, parent.id, timestamp - START);
  new DataView(made.buffer).setUint32(NONCE, nonce, true);
  return parsed(height, timestamp, alter(made));
}

/** Returns a block with another nonce. */
export function withNonce(block: SimulatedBlock, nonce: number): SimulatedBlock {
  const copy = block.block.slice();
  new DataView(copy.buffer).setUint32(NONCE, nonce, true);
  return parsed(block.height, block.timestamp, copy);
}

function parsed(height: number, timestamp: number, block: Uint8Array): SimulatedBlock {
  const { id, hashingBlob, transactionIds } = rules.examine(
    block,
    undefined,
    undefined,
    undefined,
    "regtest",
  );
  if (!id || !hashingBlob) throw new Error("the simulated block cannot be parsed");
  return {
    ...{ height, timestamp, block, hashingBlob },
    id: bytesToHex(id),
    minerTransaction: bytesToHex(transactionIds[0] ?? hexToBytes("")),
  };
}
