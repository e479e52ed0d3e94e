/** A simulated node, whose answers each test chooses. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach } from "vitest";
import { MoneroNode, type MoneroNodeOptions } from "../../wasm/js/monero/node.js";

export type Json = Record<string, unknown>;
export type Answer = (asked: { method: string; params: Json }, response: ServerResponse) => unknown;

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

/** Starts a node whose result is what `answer` returns, if it returns something. */
export async function nodeThat(
  answer: Answer,
  options: MoneroNodeOptions = {},
): Promise<MoneroNode> {
  const server = createServer((request, response) => {
    void read(request).then((text) => {
      const asked = JSON.parse(text) as { method: string; params: Json };
      const result = answer(asked, response);
      if (result !== undefined) response.end(JSON.stringify({ jsonrpc: "2.0", id: "0", result }));
    });
  });
  ends.push(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return new MoneroNode(`http://127.0.0.1:${port}`, { timeout: 5000, retries: 0, ...options });
}

async function read(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request) text += String(chunk);
  return text;
}

/** Returns a header in the daemon's format. */
export function header(height: number, change: Json = {}): Json {
  return {
    height,
    hash: "11".repeat(32),
    prev_hash: "22".repeat(32),
    major_version: 16,
    minor_version: 16,
    timestamp: 1_700_000_000 + height,
    nonce: 7,
    num_txes: 3,
    miner_tx_hash: "33".repeat(32),
    orphan_status: false,
    pow_hash: "",
    wide_difficulty: "0x1ff",
    wide_cumulative_difficulty: "0x20000000000000001",
    ...change,
  };
}

/** Returns a block in the daemon's format. */
export const block = (height: number, change: Json = {}): Json => ({
  status: "OK",
  blob: "0a0b",
  block_header: header(height),
  ...change,
});

/** Returns the result of `get_info` of a chain with so many blocks. */
export function info(height: number): Json {
  return {
    status: "OK",
    height,
    top_block_hash: "aa".repeat(32),
    wide_difficulty: "0x10",
    nettype: "fakechain",
    synchronized: true,
  };
}
