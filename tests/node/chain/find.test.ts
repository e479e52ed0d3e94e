/** The order in which the search of a followed chain asks nodes. */
import { afterAll, beforeAll, expect, test } from "vitest";
import * as product from "../../../wasm/js/index.js";
import { AnyRandomX as RandomX, eventually } from "../support.js";
import { chainOf } from "./blocks.js";
import { SimulatedSources, type Fault, type SimulatedSource } from "./source.js";
import { untilSynced } from "./support.js";

const common = chainOf(10);
const txid = common[5]?.minerTransaction ?? "";

let randomx: product.RandomX;
const sources = new SimulatedSources();

beforeAll(async () => {
  randomx = await RandomX.create({ threads: 2 });
  await randomx.prepare(product.MAINNET_GENESIS.id);
});

afterAll(async () => {
  randomx.dispose();
  await sources.stop();
});

/** Returns a fault of nodes that show no transaction, and say so after some milliseconds. */
function missed(delay: number): Fault {
  return ({ name, params }, response) => {
    if (name !== "get_transactions") return false;
    const missed_tx = params.txs_hashes;
    setTimeout(() => response.end(JSON.stringify({ status: "OK", missed_tx })), delay);
    return true;
  };
}

async function follow(...nodes: SimulatedSource[]): Promise<product.ChainFollower> {
  const addresses = nodes.map(({ url }) => ({ node: url }));
  const chain = randomx.follow(addresses, { network: "regtest", poll: 1 });
  await untilSynced(chain);
  return chain;
}

function searches(node: SimulatedSource): number {
  return node.count("get_transactions");
}

test.concurrent("a node that shows no transaction and is late is asked last", async () => {
  const [late, node] = [await sources.start(common), await sources.start(common)];
  late.fault = missed(1500);
  const chain = await follow(late, node);
  for (let search = 1; search <= 3; search += 1) {
    expect(await chain.find(txid)).toMatchObject({ height: 5 });
    expect([searches(late), searches(node)]).toEqual([1, search]);
  }
  // It does not get ahead by quick answers.
  late.fault = missed(0);
  expect(await chain.find("00".repeat(32))).toBeUndefined();
  expect(await chain.find(txid)).toMatchObject({ height: 5 });
  expect([searches(late), searches(node)]).toEqual([2, 5]);
  // It does by showing a transaction.
  late.fault = undefined;
  node.fault = missed(0);
  expect(await chain.find(txid)).toMatchObject({ height: 5 });
  expect(await chain.find(txid)).toMatchObject({ height: 5 });
  expect([searches(late), searches(node)]).toEqual([4, 6]);
  await chain.close();
});

test.concurrent("a search that its caller gives up does not put a node last", async () => {
  const [node, other] = [await sources.start(common), await sources.start(common)];
  node.fault = ({ name }) => name === "get_transactions";
  other.fault = missed(0);
  const chain = await follow(node, other);
  const stop = new AbortController();
  const given = expect(chain.find(txid, { signal: stop.signal })).rejects.toMatchObject({
    code: "aborted",
  });
  await eventually(() => {
    expect(searches(node)).toBe(1);
  });
  stop.abort();
  await given;
  node.fault = undefined;
  expect(await chain.find(txid)).toMatchObject({ height: 5 });
  expect([searches(node), searches(other)]).toEqual([2, 0]);
  await chain.close();
});
