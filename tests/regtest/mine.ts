/** Mines blocks with chosen timestamps, on a chain whose difficulty is not fixed. */
import type * as product from "../../wasm/js/index.js";
import { NATIVE, RandomX, hasAddon } from "../node/support.js";
import type { Daemon, Template } from "./daemon.js";

/** A mined block. */
export interface Mined {
  height: number;
  difficulty: bigint;
  seedHash: string;
  block: Buffer;
  hashingBlob: Buffer;
  hash: Uint8Array;
}

/** The offset of the timestamp, after two versions of one byte each. It has five bytes until 2106. */
const TIMESTAMP = 2;

/** The offset of the nonce, after the timestamp and the previous id. */
export const NONCE = TIMESTAMP + 5 + 32;

/** The number of nonces that are hashed together. */
const BATCH = 8;

/** Mines a block for each timestamp, with native code if possible, and submits them to the daemon. */
export async function mine(daemon: Daemon, times: number[]): Promise<Mined[]> {
  const randomx = await RandomX.create(hasAddon ? NATIVE : {});
  const mined: Mined[] = [];
  try {
    for (const time of times) {
      const template = await daemon.template();
      for (const blob of [template.block, template.hashingBlob]) {
        varint5(time).copy(blob, TIMESTAMP);
      }
      const block = await work(randomx, template);
      await daemon.submit(block.block);
      mined.push(block);
    }
  } finally {
    randomx.dispose();
  }
  return mined;
}

/** Whether a hash meets a difficulty. */
export function meets(hash: Uint8Array, difficulty: bigint): boolean {
  const number = BigInt(`0x${Buffer.from(hash).reverse().toString("hex")}`);
  return number * difficulty < 1n << 256n;
}

/** Returns a blob with another timestamp. */
export function withTime(blob: Buffer, time: number): Buffer {
  const copy = Buffer.from(blob);
  varint5(time).copy(copy, TIMESTAMP);
  return copy;
}

/** Returns a blob with another nonce. */
export function withNonce(blob: Buffer, nonce: number): Buffer {
  const copy = Buffer.from(blob);
  copy.writeUInt32LE(nonce, NONCE);
  return copy;
}

async function work(randomx: product.RandomX, template: Template): Promise<Mined> {
  for (let first = 0; ; first += BATCH) {
    const nonces = Array.from({ length: BATCH }, (_, index) => first + index);
    const blobs = nonces.map((nonce) => withNonce(template.hashingBlob, nonce));
    const hashes = await randomx.hashMany(template.seedHash, blobs);
    const found = hashes.findIndex((hash) => meets(hash, template.difficulty));
    const [nonce, hashingBlob, hash] = [nonces[found], blobs[found], hashes[found]];
    if (nonce === undefined || !hashingBlob || !hash) continue;
    return { ...template, block: withNonce(template.block, nonce), hashingBlob, hash };
  }
}

/** Encodes a timestamp of today as five groups of seven bits. */
function varint5(time: number): Buffer {
  const groups = [0, 7, 14, 21, 28].map((shift) => Math.floor(time / 2 ** shift) & 0x7f);
  return Buffer.from(groups.map((group, index) => (index < 4 ? group | 0x80 : group)));
}
