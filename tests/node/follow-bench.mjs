/** Times following a chain from a relay in this Node, after `bench.mjs`: `npm run bench:node`. */
import { cpus } from "node:os";
import { MemoryStore, RandomX } from "../../wasm/dist/js/index.js";
import { ANCHORED, LongChain, timesOf } from "./long-chain.mjs";

const chain = await LongChain.start();
const randomx = await RandomX.create();
const stores = new Map();
const { anchored, day, restart, bytes } = await timesOf(chain, follow);
randomx.dispose();
chain.stop();

console.log(
  `Node ${process.version}, ${cpus()[0].model}, ${randomx.configuration.threads} threads`,
);
console.table({
  "headers a second, without proofs of work": Math.round((1000 * ANCHORED) / anchored),
  "bytes of a header on the wire": Number(bytes.toFixed(1)),
  "a day of blocks with proofs of work, s": Number((day / 1000).toFixed(1)),
  "first start, with a day of blocks, s": Number(((anchored + day) / 1000).toFixed(1)),
  "the same without proofs of work, ms": Math.round(anchored),
  "restart, ms": Math.round(restart),
  "first start / restart": Number(((anchored + day) / restart).toFixed(1)),
  "the same without proofs of work": Number((anchored / restart).toFixed(1)),
});

/** Follows the chain to its newest block, and returns the milliseconds. */
async function follow(name, sample) {
  const store = stores.get(name) ?? new MemoryStore();
  stores.set(name, store);
  const { url, anchor, height } = chain;
  const start = performance.now();
  const options = { network: "regtest", anchor, store, sample };
  for await (const event of randomx.follow([{ relay: url }], options)) {
    if (event.type === "synced" && event.tip.height === height) return performance.now() - start;
  }
  throw new Error("the chain was not followed");
}
