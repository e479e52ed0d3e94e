/** A fake Monero node with a real block of the main chain and an invented history before it. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { readText } from "../support.js";

/** If all earlier blocks are TARGET seconds apart and this difficult, the rule demands the same again. */
const TARGET = 120;
const DIFFICULTY = "0x3e8";

const { blocks } = JSON.parse(readText("tests/vectors/mainnet-blocks.json")) as {
  blocks: {
    height: number;
    id: string;
    prev_id: string;
    timestamp: number;
    seed_height: number;
    seed_hash: string;
    hashing_blob: string;
    block_blob: string;
    pow_hash: string;
  }[];
};

/** The node's only real block. */
export const block = blocks[1] ?? fail();

/** The newest of the blocks, which the page shows first. */
export const newest = blocks.at(-1) ?? fail();

/** The number of a node's requests, and of those that the page has given up. */
export interface Asked {
  requests: number;
  aborted: number;
}

/** A block at the next height, on a chain that has another block before it. */
export interface Branch {
  blob: string;
  previousId: string;
}

/**
 * Serves a node, whose chain ends with its block, with the bytes `blob`, while `work` runs. It answers
 * after `gate`. With a `branch` the chain has one block more, as after a reorganisation. It claims that
 * its block has the difficulty `claimed`.
 */
export async function serveNode(
  blob: string,
  work: (url: string, asked: Asked) => Promise<void>,
  gate: Promise<void> = Promise.resolve(),
  branch?: Branch,
  claimed = DIFFICULTY,
): Promise<void> {
  const top = block.height + (branch ? 1 : 0);
  const asked = { requests: 0, aborted: 0 };
  const server = createServer((request, response) => {
    asked.requests += 1;
    response.on("close", () => {
      if (!response.writableEnded) asked.aborted += 1;
    });
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      const { method, params } = JSON.parse(body) as {
        method: string;
        params: Record<string, number>;
      };
      response.setHeader("Access-Control-Allow-Origin", "*");
      const { end_height: last = 0, height = last } = params;
      const outcome =
        height > top
          ? { error: { code: -2, message: "Requested block height is too great" } }
          : { result: { ...answer(method, params, blob, claimed, branch), status: "OK" } };
      const text = JSON.stringify({ jsonrpc: "2.0", id: "0", ...outcome });
      void gate.then(() => response.end(text));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

function answer(
  method: string,
  params: Record<string, number>,
  blob: string,
  claimed: string,
  branch?: Branch,
): object {
  const { start_height: first = 0, end_height: last = 0, height: asked = 0 } = params;
  if (method === "get_block") {
    const wide_difficulty = asked === block.height ? claimed : DIFFICULTY;
    return {
      blob: asked > block.height ? branch?.blob : blob,
      block_header: { ...header(asked), wide_difficulty },
    };
  }
  if (method === "get_block_header_by_height") return { block_header: header(asked) };
  if (method === "get_info") {
    return {
      height: block.height + (branch ? 2 : 1),
      top_block_hash: block.id,
      wide_difficulty: DIFFICULTY,
      nettype: "mainnet",
      synchronized: true,
    };
  }
  return {
    headers: Array.from({ length: last - first + 1 }, (_, index) => header(first + index, branch)),
  };
}

/** Returns the node's header of a block, on the branch if there is one. */
function header(of: number, branch?: Branch): Record<string, unknown> {
  const { height, id, prev_id, seed_height, seed_hash, timestamp } = block;
  const ids = new Map([
    [height, branch?.previousId ?? id],
    [height - 1, prev_id],
    [seed_height, seed_hash],
  ]);
  return {
    orphan_status: false,
    height: of,
    hash: ids.get(of) ?? "00".repeat(32),
    prev_hash: "00".repeat(32),
    major_version: 16,
    minor_version: 16,
    timestamp: timestamp - TARGET * (height - of),
    nonce: 0,
    num_txes: 0,
    miner_tx_hash: "00".repeat(32),
    wide_difficulty: DIFFICULTY,
    wide_cumulative_difficulty: DIFFICULTY,
  };
}

function fail(): never {
  throw new Error("tests/vectors/mainnet-blocks.json: there is no block");
}
