/**
 * Divides a block or a hashing blob into parts, to show people which bytes mean what. The checks do not
 * use the parts. Bytes that cannot be read here become the last part.
 */
import type { CheckName } from "../../../wasm/js/index.js";
import { whole } from "../../shell/words.js";

/** Bytes with one meaning. */
export interface Part {
  name: string;
  /** The first byte, and the first after it. */
  from: number;
  to: number;
  hex: string;
  /** The value in the bytes, for people. */
  value: string;
  /** The checks that examine the bytes. */
  checks: CheckName[];
}

const ID_BYTES = 32;
const NONCE_BYTES = 4;
/** Matches an output in hex where the last one ended: its amount, its tag, and the bytes that follow that tag. */
const OUTPUT = /(?:[89a-f].){0,9}[0-7].(?:02.{64}|03.{66})/iuy;
/** The most bytes of a varint, since each holds 7 of 64 bits. */
const LONGEST_VARINT = 10;

/** Divides a block blob, in hex. */
export function partsOfBlock(hex: string): Part[] {
  return cut(hex, (cutter) => {
    cutHeader(cutter);
    cutMinerTransaction(cutter);
    const count = cutter.varint("Number of other transactions", ["block"]);
    const hashes = cutter.bytes("Their hashes", ID_BYTES * count, ["block"]);
    hashes.value = count === 0 ? "none" : `${whole(count)} of ${ID_BYTES} bytes`;
  });
}

/** Divides a hashing blob, in hex. */
export function partsOfHashingBlob(hex: string): Part[] {
  return cut(hex, (cutter) => {
    cutHeader(cutter);
    cutter.bytes("Root of the transactions", ID_BYTES, ["hashing-blob"]);
    cutter.varint("Number of transactions", ["hashing-blob"]);
  });
}

/** Returns a block's timestamp in seconds since 1970, if it could be read. */
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
  const count = cutter.varint("Miner transaction: number of outputs", []);
  cutter.outputs("Miner transaction: outputs", count);
  const extra = cutter.varint("Miner transaction: length of extra", []);
  cutter.bytes("Miner transaction: extra", extra, []);
  if (version > 1) cutter.varint("Miner transaction: signatures", []);
}

/** Thrown by the cutter for bytes that it cannot read. */
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

/** Cuts parts from the front of some hex. */
class Cutter {
  readonly #hex: string;
  readonly #parts: Part[] = [];
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

  /** Cuts a varint: 7 bits a byte, lowest first; the top bit means that more bytes follow. */
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

  /** Cuts outputs as one part, since there may be very many. */
  outputs(name: string, count: number): void {
    OUTPUT.lastIndex = 2 * this.#at;
    let [end, left] = [this.#at, count];
    for (; left > 0 && OUTPUT.test(this.#hex); left -= 1) end = OUTPUT.lastIndex / 2;
    this.bytes(name, end - this.#at, []);
    if (left > 0) this.fail();
  }

  fail(): never {
    throw new Unreadable();
  }

  /** Returns all parts. Bytes that are left over become one more. */
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
