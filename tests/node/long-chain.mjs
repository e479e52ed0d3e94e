/** A long chain behind a relay on loopback, and the times of following it, for benchmarks. */
import { once } from "node:events";
import { createServer } from "node:http";
import { keccak_256 } from "@noble/hashes/sha3.js";
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";

/** As many blocks as between the main network's last two anchors. */
export const ANCHORED = 45_000;

/** The blocks of a day. */
export const DAY = 720;

/** The blocks that a client keeps, those of three days. */
export const KEPT = 3 * DAY;

const GENESIS = "418015bb9ae982a1975da7d79277c2705727a56894ba0fb246adaabb1f4632e3";
const START = 1_700_000_000;

/** The bytes of a header in an answer: a hashing blob after its length. */
const RECORD = 77;

/** A relay with a regtest chain. Every block has difficulty 1, so any hash is a proof of work. */
export class LongChain {
  /** The height of the newest block that it serves. */
  height = ANCHORED;
  #ids = [GENESIS];
  #records = Buffer.alloc(RECORD * (1 + ANCHORED + KEPT));
  #sockets = new Set();
  #server = createServer((request, response) => {
    this.#answer(request, response);
  });

  constructor() {
    for (let height = 1; height <= ANCHORED + KEPT; height += 1) {
      const record = recordOf(this.#ids[height - 1], START + 120 * height);
      this.#records.set(record, RECORD * height);
      this.#ids.push(bytesToHex(keccak_256(record)));
    }
  }

  /** Makes the chain, and starts to serve it. */
  static async start() {
    const chain = new LongChain();
    chain.#server.on("connection", (socket) => chain.#sockets.add(socket));
    chain.#server.listen(0, "127.0.0.1");
    await once(chain.#server, "listening");
    return chain;
  }

  /** Its address. */
  get url() {
    return `http://127.0.0.1:${this.#server.address().port}`;
  }

  /** The bytes that it has sent, with the heads of its answers. */
  get sent() {
    return [...this.#sockets].reduce((sum, { bytesWritten }) => sum + bytesWritten, 0);
  }

  /** The anchors: the genesis block, and the one from which proofs of work are checked. */
  get anchor() {
    return [0, ANCHORED].map((height) => ({
      height,
      id: this.#ids[height],
      work: String(height + 1),
    }));
  }

  /** Stops serving. */
  stop() {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #answer(request, response) {
    response.setHeader("Access-Control-Allow-Origin", "*");
    const [, , kind, first, count] = request.url.split("/");
    if (kind === "tip") {
      const { height } = this;
      response.end(JSON.stringify({ first: 1, height, id: this.#ids[height] }));
    } else {
      const end = Math.min(Number(first) + Number(count), this.height + 1);
      response.end(this.#records.subarray(RECORD * Number(first), RECORD * end));
    }
  }
}

/** Runs of each kind. The median of their times counts. */
const ROUNDS = 3;

/** A sample that leaves only the newest blocks of each batch to hash. */
const FEWEST = 1_000_000;

/**
 * Times following a long chain. `follow` takes a name of a store and a sample, follows the chain to its
 * newest block with the state in that store, and returns the milliseconds.
 */
export async function timesOf(chain, follow) {
  const first = [];
  for (let round = 0; round < ROUNDS; round += 1) first.push(await follow(`${round}`, 1));
  const bytes = chain.sent / (ROUNDS * ANCHORED);
  chain.height = ANCHORED + DAY;
  const day = await follow("0", 1);
  // A state with as many blocks as it ever has for long.
  chain.height = ANCHORED + KEPT;
  await follow("0", FEWEST);
  const again = [];
  for (let round = 0; round < ROUNDS; round += 1) again.push(await follow("0", 1));
  const middle = (times) => times.toSorted((a, b) => a - b)[(ROUNDS - 1) / 2];
  return { anchored: middle(first), day, restart: middle(again), bytes };
}

/** Returns a header as a relay sends it. */
function recordOf(previous, timestamp) {
  const time = [0, 7, 14, 21, 28].map((shift, index) => {
    const group = Math.floor(timestamp / 2 ** shift) & 0x7f;
    return index < 4 ? group | 0x80 : group;
  });
  const root = new Array(32).fill(7);
  const [versions, nonce] = [
    [16, 16],
    [1, 2, 3, 4],
  ];
  return Uint8Array.of(
    RECORD - 1,
    ...[...versions, ...time, ...hexToBytes(previous), ...nonce, ...root, 1],
  );
}
