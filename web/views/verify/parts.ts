/**
 * The parts of a block and of a hashing blob, for people to see which bytes mean what. The checks
 * themselves take the whole; what cannot be read here is one last part.
 */
import type { CheckName } from "../../../wasm/js/index.js";
import { whole } from "../../shell/words.js";

/** Some bytes that mean one thing. */
export interface Part {
  name: string;
  /** The first byte, and the first after it. */
  from: number;
  to: number;
  hex: string;
  /** What they say. */
  value: string;
  /** The checks that look at them. */
  checks: CheckName[];
}

const ID_BYTES = 32;
const NONCE_BYTES = 4;
/** The tags of outputs, and the bytes that follow them. */
const OUTPUTS: Readonly<Record<number, number>> = { 2: 32, 3: 33 };
/** Seven bits each are enough for 64. */
const LONGEST_VARINT = 10;

/** Cuts a block blob, in hex. */
export function partsOfBlock(hex: string): Part[] {
  return cut(hex, (cutter) => {
    cutHeader(cutter);
    cutMinerTransaction(cutter);
    const count = cutter.varint("Number of other transactions", ["block"]);
    const hashes = cutter.bytes("Their hashes", ID_BYTES * count, ["block"]);
    hashes.value = count === 0 ? "none" : `${whole(count)} of ${ID_BYTES} bytes`;
  });
}

/** Cuts a hashing blob, in hex. */
export function partsOfHashingBlob(hex: string): Part[] {
  return cut(hex, (cutter) => {
    cutHeader(cutter);
    cutter.bytes("Root of the transactions", ID_BYTES, ["hashing-blob"]);
    cutter.varint("Number of transactions", ["hashing-blob"]);
  });
}

/** When a block says that it was made, in seconds since 1970, if it could be read. */
export function timestampOf(parts: readonly Part[]): number | undefined {
  const value = parts.find(({ name }) => name === "Timestamp")?.value;
  return value === undefined ? undefined : Number(value);
}

function cutHeader(cutter: Cutter): void {
  cutter.varint("Major version", ["version"]);
  cutter.varint("Minor version", []);
  cutter.varint("Timestamp", ["timestamp-median", "timestamp-future"]);
  cutter.bytes("Previous block’s id", ID_BYTES, ["previous-id"]);
  const nonce = cutter.bytes("Nonce", NONCE_BYTES, []);
  nonce.value = String(littleEndian(nonce.hex));
}

function cutMinerTransaction(cutter: Cutter): void {
  const version = cutter.varint("Miner transaction: version", ["miner-transaction"]);
  cutter.varint("Miner transaction: unlock time", ["miner-transaction"]);
  cutter.varint("Miner transaction: inputs", []);
  cutter.bytes("Miner transaction: kind of input", 1, []);
  cutter.varint("Miner transaction: height", ["height"]);
  const outputs = cutter.varint("Miner transaction: number of outputs", []);
  cutter.join("Miner transaction: outputs", () => {
    for (let index = 0; index < outputs; index += 1) {
      cutter.varint("amount", []);
      const tag = Number.parseInt(cutter.bytes("tag", 1, []).hex, 16);
      cutter.bytes("key", OUTPUTS[tag] ?? cutter.fail(), []);
    }
  });
  const extra = cutter.varint("Miner transaction: length of extra", []);
  cutter.bytes("Miner transaction: extra", extra, []);
  if (version > 1) cutter.varint("Miner transaction: signatures", []);
}

/** What the cutter throws where the bytes are not what they should be. */
class Unreadable extends Error {}

function cut(hex: string, how: (cutter: Cutter) => void): Part[] {
  const cutter = new Cutter(hex);
  try {
    how(cutter);
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
  }
  return cutter.end();
}

/** Takes parts from the front of some hex. */
class Cutter {
  readonly #hex: string;
  #parts: Part[] = [];
  #at = 0;

  constructor(hex: string) {
    this.#hex = hex;
  }

  bytes(name: string, count: number, checks: CheckName[]): Part {
    const from = this.#at;
    const to = from + count;
    if (2 * to > this.#hex.length) this.fail();
    const hex = this.#hex.slice(2 * from, 2 * to);
    const part: Part = { name, from, to, hex, value: hex, checks };
    this.#at = to;
    this.#parts.push(part);
    return part;
  }

  /** A number of seven bits a byte, the lowest first; the top bit says that more follow. */
  varint(name: string, checks: CheckName[]): number {
    let value = 0n;
    for (let index = 0; index < LONGEST_VARINT; index += 1) {
      const at = 2 * (this.#at + index);
      const byte = Number.parseInt(this.#hex.slice(at, at + 2), 16);
      if (Number.isNaN(byte)) break;
      value |= BigInt(byte & 0x7f) << BigInt(7 * index);
      if (byte & 0x80) continue;
      this.bytes(name, index + 1, checks).value = value.toString();
      return Number(value);
    }
    return this.fail();
  }

  /** Makes one part of those that `how` takes: there may be very many. */
  join(name: string, how: () => void): void {
    const before = this.#parts;
    const from = this.#at;
    this.#parts = [];
    try {
      how();
    } finally {
      const count = this.#at - from;
      this.#parts = before;
      this.#at = from;
      this.bytes(name, count, []);
    }
  }

  fail(): never {
    throw new Unreadable();
  }

  /** All parts; what is left over is one, too. */
  end(): Part[] {
    const rest = this.#hex.length / 2 - this.#at;
    if (rest > 0) this.bytes("Could not be read", Math.ceil(rest), ["block"]);
    return this.#parts;
  }
}

function littleEndian(hex: string): number {
  const bytes = hex.match(/../gu) ?? [];
  return Number.parseInt(bytes.reverse().join(""), 16);
}
