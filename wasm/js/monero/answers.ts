/**
 * A node's answers, field by field: each is what it should be, or a `node-invalid` names it. That
 * what they say is true is for `verifyChain` to find out.
 */
import { RandomXError } from "../errors.js";
import * as validate from "../validate.js";
import { isRecord } from "./rpc.js";

/** What a node says of itself and its chain, all of it believed. */
export interface NodeInfo {
  /** Blocks of its chain; the last one's height is one less. */
  height: number;
  /** The id of the last block, in hex. */
  topBlockHash: string;
  /** The difficulty of the next block. */
  difficulty: bigint;
  /** `mainnet`, `stagenet`, `testnet`, or `fakechain` for `--regtest`. */
  nettype: string;
  /** Whether it has the blocks that its peers have. */
  synchronized: boolean;
}

/** What a node says of a block, all of it believed; ids are 64 lower-case hex digits. */
export interface NodeHeader {
  height: number;
  /** The block's id. */
  id: string;
  prevId: string;
  majorVersion: number;
  minorVersion: number;
  /** Seconds since 1970. */
  timestamp: number;
  nonce: number;
  /** Transactions besides the miner's. */
  transactionCount: number;
  minerTransactionId: string;
  /** The difficulty that the network demanded. */
  difficulty: bigint;
  /** The sum of all difficulties up to this block's. */
  cumulativeDifficulty: bigint;
  /** The proof of work's hash, where the node was asked to compute it and does so. */
  powHash?: string;
}

/** A block of a node. */
export interface NodeBlock {
  /** The whole block as it is serialised, without the transactions but the miner's. */
  blob: Uint8Array<ArrayBuffer>;
  header: NodeHeader;
}

/** The longest block blob, in bytes: room for some 30,000 transactions' ids. */
export const MAX_BLOB = 1 << 20;

const HASH = /^[0-9a-f]{64}$/u;
const HEX = /^(?:[0-9a-f]{2})+$/u;
const WIDE = /^0x[0-9a-f]{1,32}$/u;
const NETTYPES = ["mainnet", "stagenet", "testnet", "fakechain"];

/** The result of `get_info`. */
export function info(result: Record<string, unknown>): NodeInfo {
  const fields = new Fields("get_info", result);
  return {
    height: fields.whole("height"),
    topBlockHash: fields.text("top_block_hash", HASH),
    difficulty: fields.wide("wide_difficulty"),
    nettype: fields.oneOf("nettype", NETTYPES),
    synchronized: fields.flag("synchronized"),
  };
}

/** The header in the result of a method, which must be of the block that was asked for. */
export function header(
  method: string,
  result: Record<string, unknown>,
  asked: { height: number } | { id: string },
): NodeHeader {
  const fields = new Fields(method, result).record("block_header");
  const read = headerOf(fields);
  if ("height" in asked && read.height !== asked.height) {
    throw fields.wrong("height", `${asked.height} was asked for, got ${read.height}`);
  }
  if ("id" in asked && read.id !== asked.id) {
    throw fields.wrong("hash", `${asked.id} was asked for, got ${read.id}`);
  }
  return read;
}

/** The headers in the result of `get_block_headers_range`: all of them, in order. */
export function headers(
  result: Record<string, unknown>,
  first: number,
  last: number,
): NodeHeader[] {
  const fields = new Fields("get_block_headers_range", result);
  const entries = fields.records("headers", last - first + 1);
  return entries.map((entry, index) => {
    const read = headerOf(entry);
    if (read.height !== first + index) {
      throw entry.wrong("height", `expected ${first + index}, got ${read.height}`);
    }
    return read;
  });
}

/** The result of `get_block`. */
export function block(
  result: Record<string, unknown>,
  asked: { height: number } | { id: string },
): NodeBlock {
  const fields = new Fields("get_block", result);
  const hex = fields.text("blob", HEX, 2 * MAX_BLOB);
  return { header: header("get_block", result, asked), blob: validate.bytes("blob", hex) };
}

function headerOf(fields: Fields): NodeHeader {
  if (fields.flag("orphan_status")) {
    throw fields.wrong("orphan_status", "the block is not in the node's chain");
  }
  const powHash = fields.optionalText("pow_hash", HASH);
  return {
    height: fields.whole("height"),
    id: fields.text("hash", HASH),
    prevId: fields.text("prev_hash", HASH),
    majorVersion: fields.whole("major_version", 0xff),
    minorVersion: fields.whole("minor_version", 0xff),
    timestamp: fields.whole("timestamp"),
    nonce: fields.whole("nonce", 0xffff_ffff),
    transactionCount: fields.whole("num_txes"),
    minerTransactionId: fields.text("miner_tx_hash", HASH),
    difficulty: fields.wide("wide_difficulty"),
    cumulativeDifficulty: fields.wide("wide_cumulative_difficulty"),
    ...(powHash === undefined ? {} : { powHash }),
  };
}

/** The fields of an object of an answer. */
class Fields {
  readonly #place: string;
  readonly #record: Record<string, unknown>;

  constructor(place: string, record: Record<string, unknown>) {
    this.#place = place;
    this.#record = record;
  }

  /** The error for a field. */
  wrong(name: string, complaint: string): RandomXError {
    return new RandomXError("node-invalid", `${this.#place}: ${name}: ${complaint}`);
  }

  whole(name: string, most = Number.MAX_SAFE_INTEGER): number {
    const value = this.#record[name];
    if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0 && value <= most) {
      return value;
    }
    throw this.wrong(name, `expected a whole number from 0 to ${most}`);
  }

  flag(name: string): boolean {
    const value = this.#record[name];
    if (typeof value === "boolean") return value;
    throw this.wrong(name, "expected true or false");
  }

  text(name: string, form: RegExp, most = 64): string {
    const value = this.#record[name];
    // The length first: expressions take time.
    if (typeof value === "string" && value.length <= most && form.test(value)) return value;
    const expected = form === HASH ? "64 hex digits" : `hex, at most ${most / 2} bytes`;
    throw this.wrong(name, `expected ${expected}`);
  }

  /** A text that an empty one, or none, stands for the lack of. */
  optionalText(name: string, form: RegExp): string | undefined {
    const value = this.#record[name];
    return value === undefined || value === "" ? undefined : this.text(name, form);
  }

  oneOf(name: string, values: readonly string[]): string {
    const value = this.#record[name];
    if (typeof value === "string" && values.includes(value)) return value;
    throw this.wrong(name, `expected one of ${values.join(", ")}`);
  }

  /** A number of up to 128 bits, which the daemon also tells in hex. */
  wide(name: string): bigint {
    const value = this.#record[name];
    const wide = typeof value === "string" && WIDE.test(value) ? BigInt(value) : 0n;
    if (wide > 0n) return wide;
    throw this.wrong(name, "expected 0x and up to 32 hex digits, and not zero");
  }

  record(name: string): Fields {
    const value = this.#record[name];
    if (isRecord(value)) return new Fields(`${this.#place}: ${name}`, value);
    throw this.wrong(name, "expected an object");
  }

  /** A list of so many objects. */
  records(name: string, count: number): Fields[] {
    const value = this.#record[name];
    if (!Array.isArray(value) || value.length !== count || !value.every(isRecord)) {
      throw this.wrong(name, `expected a list of ${count} objects`);
    }
    return value.map((entry, index) => new Fields(`${this.#place}: ${name}[${index}]`, entry));
  }
}
