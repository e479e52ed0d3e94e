/** Blocks of a chain whose difficulty is not fixed, mined at times of our own choosing. */
import type { RandomX } from "../../wasm/js/index.js";
import type { Daemon, Template } from "./daemon.js";

/** What is known of a block that was mined here. */
export interface Mined {
  height: number;
  difficulty: bigint;
  seedHash: string;
  block: Buffer;
  hashingBlob: Buffer;
  hash: Uint8Array;
}

/** Where a block's time begins: after two versions of a byte each. Until 2106 it has five bytes. */
const TIMESTAMP = 2;

/** Where its nonce begins: after the time and the previous id. */
export const NONCE = TIMESTAMP + 5 + 32;

/** Nonces that are tried together. */
const BATCH = 8;

/** Mines as many blocks as there are times, and has the daemon take them. */
export async function mine(randomx: RandomX, daemon: Daemon, times: number[]): Promise<Mined[]> {
  const mined: Mined[] = [];
  for (const time of times) {
    const template = await daemon.template();
    for (const blob of [template.block, template.hashingBlob]) varint5(time).copy(blob, TIMESTAMP);
    const block = await work(randomx, template);
    await daemon.submit(block.block);
    mined.push(block);
  }
  return mined;
}

/** Whether a hash meets a difficulty, by the definition. */
export function meets(hash: Uint8Array, difficulty: bigint): boolean {
  const number = BigInt(`0x${Buffer.from(hash).reverse().toString("hex")}`);
  return number * difficulty < 1n << 256n;
}

/** A blob with another time. */
export function withTime(blob: Buffer, time: number): Buffer {
  const copy = Buffer.from(blob);
  varint5(time).copy(copy, TIMESTAMP);
  return copy;
}

/** A blob with another nonce. */
export function withNonce(blob: Buffer, nonce: number): Buffer {
  const copy = Buffer.from(blob);
  copy.writeUInt32LE(nonce, NONCE);
  return copy;
}

async function work(randomx: RandomX, template: Template): Promise<Mined> {
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

/** A time of today as five groups of seven bits. */
function varint5(time: number): Buffer {
  const groups = [0, 7, 14, 21, 28].map((shift) => Math.floor(time / 2 ** shift) & 0x7f);
  return Buffer.from(groups.map((group, index) => (index < 4 ? group | 0x80 : group)));
}
