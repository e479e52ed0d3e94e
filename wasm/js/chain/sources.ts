/** Sources of headers, as a worker asks them. Nothing that they answer is trusted. */
import { REQUESTS, SEARCHES } from "../budget.js";
import { JsonReader, type Wanted } from "../monero/json.js";
import { MoneroNode } from "../monero/node.js";
import { failure, send, type Sink, type Transport } from "../monero/transport.js";
import * as validate from "../validate.js";

/** The newest block of a source's chain. */
export interface SourceTip {
  height: number;
  id: Uint8Array;
}

/** A source. */
export interface HeaderSource {
  tip(signal: AbortSignal): Promise<SourceTip>;
  /** Returns hashing blobs, each after a byte with its length. There may be fewer than asked for. */
  headers(first: number, count: number, signal: AbortSignal): Promise<Uint8Array>;
  /** Returns difficulties of 16 bytes, the lowest first. */
  difficulties(first: number, count: number, signal: AbortSignal): Promise<Uint8Array>;
}

/** Returns the hashing blob of a block, or `undefined` if it cannot be parsed. */
export type HashingBlobOf = (block: Uint8Array) => Uint8Array | undefined;

/** The bytes that contain the version of a block, and are too few for a hashing blob. */
const BEGINNING = 10;

const DIFFICULTY_BYTES = 16;

/** The most blocks that a node is asked for at once. */
const MAX_AHEAD = 8;

/** The longest answer about a relay's tip. */
const MAX_TIP = 4 << 10;

const TIP: Wanted = new Map([
  ["height", 0],
  ["id", 64],
]);

/** A Monero node. It serves blocks, of which the hashing blobs are kept. */
export class NodeSource implements HeaderSource {
  readonly node: MoneroNode;
  readonly #hashingBlobOf: HashingBlobOf;
  readonly #timeout: number;
  readonly #ahead: number;

  /** @param sources - the number of the follower's sources. */
  constructor(url: string, transport: Transport, hashingBlobOf: HashingBlobOf, sources: number) {
    // The client repeats requests by itself.
    this.node = new MoneroNode(url, { ...transport, retries: 0 });
    this.#hashingBlobOf = hashingBlobOf;
    this.#timeout = transport.timeout;
    // All sources and searches share the requests in flight. With this share, late ones delay no other one. In WebKit
    // they do, for a second each.
    this.#ahead = Math.min(MAX_AHEAD, Math.floor((REQUESTS - SEARCHES) / sources));
  }

  async tip(signal: AbortSignal): Promise<SourceTip> {
    const { height, topBlockHash } = await this.node.getInfo({ signal });
    return { height: height - 1, id: validate.hash("top_block_hash", topBlockHash) };
  }

  async headers(first: number, count: number, signal: AbortSignal): Promise<Uint8Array> {
    const records: Uint8Array[] = [];
    const end = performance.now() + this.#timeout;
    const options = { signal, ahead: this.#ahead };
    try {
      for await (const { blob } of this.node.getBlocks(first, first + count - 1, options)) {
        const header = this.#hashingBlobOf(blob);
        // The beginning has the version, from which the client sees whether the format is a new one.
        const record = header ?? blob.slice(0, BEGINNING);
        records.push(Uint8Array.of(record.length), record);
        // A slow node's answer has fewer blocks: until it is complete, the client counts none of them.
        if (!header || performance.now() > end) break;
      }
    } catch (error) {
      // The blocks that have arrived are returned.
      if (records.length === 0 || signal.aborted) throw error;
    }
    if (records.length === 0) {
      throw failure("refused", `get_block: the node's chain ends before block ${first}`, false)
        .error;
    }
    return join(records);
  }

  async difficulties(first: number, count: number, signal: AbortSignal): Promise<Uint8Array> {
    const headers = await this.node.getBlockHeadersRange(first, first + count - 1, { signal });
    const records = new DataView(new ArrayBuffer(DIFFICULTY_BYTES * headers.length));
    headers.forEach(({ difficulty }, index) => {
      records.setBigUint64(DIFFICULTY_BYTES * index, difficulty & (2n ** 64n - 1n), true);
      records.setBigUint64(DIFFICULTY_BYTES * index + 8, difficulty >> 64n, true);
    });
    return new Uint8Array(records.buffer);
  }
}

/** A relay, such as `randomx relay` runs. */
export class RelaySource implements HeaderSource {
  readonly #base: URL;
  readonly #transport: Transport;

  constructor(url: string, transport: Transport) {
    this.#base = new URL(url);
    this.#transport = transport;
  }

  async tip(signal: AbortSignal): Promise<SourceTip> {
    const read = await this.#get("tip", MAX_TIP, signal, () => new JsonReader(TIP, MAX_TIP));
    return validate.fields("tip", read, { height: validate.height, id: validate.hash });
  }

  async headers(first: number, count: number, signal: AbortSignal): Promise<Uint8Array> {
    return this.#bytes(
      `headers/${first}/${count}`,
      (1 + validate.MAX_HASHING_BLOB) * count,
      signal,
    );
  }

  async difficulties(first: number, count: number, signal: AbortSignal): Promise<Uint8Array> {
    return this.#bytes(`difficulties/${first}/${count}`, DIFFICULTY_BYTES * count, signal);
  }

  async #bytes(path: string, limit: number, signal: AbortSignal): Promise<Uint8Array> {
    return this.#get(path, limit, signal, () => new Pieces());
  }

  async #get<T>(path: string, limit: number, signal: AbortSignal, open: () => Sink<T>): Promise<T> {
    const url = new URL(this.#base);
    url.pathname = `${url.pathname.replace(/\/$/u, "")}/v1/${path}`;
    const outcome = await send(this.#transport, { label: path, url, limit }, open, signal);
    if ("error" in outcome) throw outcome.error;
    return outcome.value;
  }
}

/** The bytes of an answer. */
class Pieces implements Sink<Uint8Array> {
  readonly #pieces: Uint8Array[] = [];

  push(piece: Uint8Array): void {
    this.#pieces.push(piece.slice());
  }

  end(): Uint8Array {
    return join(this.#pieces);
  }
}

function join(parts: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}
