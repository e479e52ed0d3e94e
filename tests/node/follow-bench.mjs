/**
 * Times following a chain from a relay in this Node, after `bench.mjs`: `npm run bench:node`.
 *
 * The relay is a process-local server with a chain of difficulty 1. A first start reads the headers
 * between two anchors, whose proofs of work are not computed. A restart continues with the stored state. Then a
 * day of blocks is verified, proofs of work included.
 */
import { once } from "node:events";
import { createServer } from "node:http";
import { keccak_256 } from "@noble/hashes/sha3.js";
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";
import { MAINNET_GENESIS, MemoryStore, RandomX } from "../../wasm/dist/js/index.js";

/** As many blocks as between the main network's last two anchors. */
const ANCHORED = 45_000;

/** The blocks of a day. */
const DAY = 720;

const START = 1_700_000_000;

const chain = [MAINNET_GENESIS.id];
const records = [new Uint8Array()];
for (let height = 1; height <= ANCHORED + DAY; height += 1) {
  const blob = hashingBlob(chain[height - 1], START + 120 * height);
  records.push(Uint8Array.of(blob.length, ...blob));
  chain.push(bytesToHex(keccak_256(records[height])));
}

let tip = ANCHORED;
let sent = 0;
const relay = createServer((request, response) => {
  const [, , kind, first, count] = request.url.split("/");
  const last = Math.min(Number(first) + Number(count), tip + 1);
  const body =
    kind === "tip"
      ? JSON.stringify({ first: 1, height: tip, id: chain[tip] })
      : Buffer.concat(records.slice(Number(first), last));
  sent += body.length;
  response.end(body);
});
relay.listen(0, "127.0.0.1");
await once(relay, "listening");

const randomx = await RandomX.create();
const store = new MemoryStore();
const cold = await follow();
const bytes = sent;
const warm = await follow();
await randomx.prepare(MAINNET_GENESIS.id);
tip += DAY;
const day = await follow(tip);
randomx.dispose();
relay.close();

console.log(`Node ${process.version}, ${randomx.configuration.threads} threads`);
console.table({
  "headers a second, without proofs of work": Math.round((1000 * ANCHORED) / cold),
  "bytes of a header on the wire": Number((bytes / ANCHORED).toFixed(1)),
  "first start, ms": Math.round(cold),
  "restart, ms": Math.round(warm),
  "first start / restart": Number((cold / warm).toFixed(1)),
  "a day of blocks with proofs of work, s": Number((day / 1000).toFixed(1)),
});

/** Follows the chain to a height, and returns the milliseconds until then. */
async function follow(height = ANCHORED) {
  const start = performance.now();
  const anchor = [0, ANCHORED].map((height) => ({ height, id: chain[height], work: height + 1 }));
  const { port } = relay.address();
  const sources = [{ relay: `http://127.0.0.1:${port}` }];
  for await (const event of randomx.follow(sources, { network: "regtest", anchor, store })) {
    if (event.type === "tip" && event.tip.height === height) return performance.now() - start;
  }
  throw new Error("the chain was not followed");
}

function hashingBlob(previous, timestamp) {
  const time = [0, 7, 14, 21, 28].map((shift, index) => {
    const group = Math.floor(timestamp / 2 ** shift) & 0x7f;
    return index < 4 ? group | 0x80 : group;
  });
  const root = new Array(32).fill(7);
  return Uint8Array.of(16, 16, ...time, ...hexToBytes(previous), 1, 2, 3, 4, ...root, 1);
}
