/**
 * Checks of a node's answers, field by field. A field with a wrong form is a `node-invalid` that names
 * it. Whether the answer is true is for `verifyChain` to find out.
 */
import { RandomXError } from "../errors.js";
import type { Kept, Wanted } from "./json.js";
import { isRecord } from "./rpc.js";

/** A node's claims about itself and its chain. They are not verified. */
export interface NodeInfo {
  /** The number of blocks in its chain, one more than the last block's height. */
  height: number;
  /** The id of the last block, in hex. */
  topBlockHash: string;
  /** The difficulty of the next block. */
  difficulty: bigint;
  /** `mainnet`, `stagenet`, `testnet`, or `fakechain` for `--regtest`. */
  nettype: string;
  /** Whether it has all blocks of its peers. */
  synchronized: boolean;
}

/** A node's claims about a block. They are not verified. Ids are 64 lower-case hex digits. */
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
  /** The number of transactions, without the miner's. */
  transactionCount: number;
  minerTransactionId: string;
  /** The difficulty that the network demanded. */
  difficulty: bigint;
  /** The sum of the difficulties of all blocks up to this one. */
  cumulativeDifficulty: bigint;
  /** The RandomX hash, if the node has computed it. */
  powHash?: string;
}

/** A block from a node. */
export interface NodeBlock {
  /** The serialised block. Of the transactions it contains only the miner's, and the others' ids. */
  blob: Uint8Array<ArrayBuffer>;
  header: NodeHeader;
}

/** The limit for a block blob in bytes: room for the ids of some 30,000 transactions. */
export const MAX_BLOB = 1 << 20;

const HASH = /^[0-9a-f]{64}$/u;
const WIDE = /^0x[0-9a-f]{1,32}$/u;
const NETTYPES = ["mainnet", "stagenet", "testnet", "fakechain"];

const HEADER_FIELDS = [
  ...["height", "hash", "prev_hash", "major_version", "minor_version", "timestamp", "nonce"],
  ...["num_txes", "miner_tx_hash", "wide_difficulty", "wide_cumulative_difficulty"],
  ...["pow_hash", "orphan_status"],
];

/** The bytes of a hash in hex. No other short field is longer. */
const SHORT = 64;

/** The fields of each kind of result. */
export const WANTED = {
  info: wanted("height", "top_block_hash", "wide_difficulty", "nettype", "synchronized"),
  header: wanted("block_header", ...HEADER_FIELDS),
  headers: wanted("headers", ...HEADER_FIELDS),
  block: new Map<string, Kept>([
    ...wanted("block_header", ...HEADER_FIELDS),
    ["blob", { hex: MAX_BLOB }],
  ]),
  transactions: wanted("txs", "tx_hash", "in_pool", "block_height"),
} satisfies Record<string, Wanted>;

function wanted(...names: string[]): Wanted {
  return new Map(names.map((name) => [name, SHORT]));
}

/** Reads the result of `get_info`. */
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

/** Reads the header in the result of a method. It must be of the requested block. */
export function header(
  method: string,
  result: Record<string, unknown>,
  requested: { height: number } | { id: string },
): NodeHeader {
  const fields = new Fields(method, result).record("block_header");
  const read = headerOf(fields);
  if ("height" in requested && read.height !== requested.height) {
    throw fields.wrong("height", `expected ${requested.height}, got ${read.height}`);
  }
  if ("id" in requested && read.id !== requested.id) {
    throw fields.wrong("hash", `expected ${requested.id}, got ${read.id}`);
  }
  return read;
}

/** Reads the headers in the result of `get_block_headers_range`: all of them, in order. */
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

/** Reads the result of `get_block`. */
export function block(
  result: Record<string, unknown>,
  requested: { height: number } | { id: string },
): NodeBlock {
  const blob = new Fields("get_block", result).bytes("blob");
  return { header: header("get_block", result, requested), blob };
}

/** Reads the result of `get_transactions` for one transaction: the height of its block, if it has one. */
export function transactionHeight(result: Record<string, unknown>, id: string): number | undefined {
  const fields = new Fields("get_transactions", result);
  // The daemon leaves the list out if it knows none.
  if (result.txs === undefined) return undefined;
  const [found] = fields.records("txs", 1);
  if (!found || found.flag("in_pool")) return undefined;
  if (found.text("tx_hash", HASH) !== id) throw found.wrong("tx_hash", `expected ${id}`);
  return found.whole("block_height");
}

function headerOf(fields: Fields): NodeHeader {
  if (fields.flag("orphan_status")) {
    throw fields.wrong("orphan_status", "expected a block of the node's chain, got an orphan");
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

/** An object in an answer. Each method checks one field. */
class Fields {
  readonly #place: string;
  readonly #record: Record<string, unknown>;

  constructor(place: string, record: Record<string, unknown>) {
    this.#place = place;
    this.#record = record;
  }

  /** Returns the error for a field. */
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

  text(name: string, form: RegExp): string {
    const value = this.#record[name];
    if (typeof value === "string" && form.test(value)) return value;
    throw this.wrong(name, "expected 64 hex digits");
  }

  /** Reads at least one byte of a blob, which was in lower-case hex. */
  bytes(name: string): Uint8Array<ArrayBuffer> {
    const value = this.#record[name];
    if (value instanceof Uint8Array && value.length > 0) return value as Uint8Array<ArrayBuffer>;
    throw this.wrong(name, `expected hex, at most ${MAX_BLOB} bytes`);
  }

  /** Returns `undefined` for an empty or missing text. */
  optionalText(name: string, form: RegExp): string | undefined {
    const value = this.#record[name];
    return value === undefined || value === "" ? undefined : this.text(name, form);
  }

  oneOf(name: string, values: readonly string[]): string {
    const value = this.#record[name];
    if (typeof value === "string" && values.includes(value)) return value;
    throw this.wrong(name, `expected one of ${values.join(", ")}`);
  }

  /** Reads a number of up to 128 bits, which the daemon writes in hex. */
  wide(name: string): bigint {
    const value = this.#record[name];
    const wide = typeof value === "string" && WIDE.test(value) ? BigInt(value) : 0n;
    if (wide > 0n) return wide;
    throw this.wrong(name, "expected 0x, up to 32 hex digits, and not zero");
  }

  record(name: string): Fields {
    const value = this.#record[name];
    if (isRecord(value)) return new Fields(`${this.#place}: ${name}`, value);
    throw this.wrong(name, "expected an object");
  }

  /** Reads a list of exactly `count` objects. */
  records(name: string, count: number): Fields[] {
    const value = this.#record[name];
    if (!Array.isArray(value) || value.length !== count || !value.every(isRecord)) {
      throw this.wrong(name, `expected a list of ${count} objects`);
    }
    return value.map((entry, index) => new Fields(`${this.#place}: ${name}[${index}]`, entry));
  }
}
