/** The errors of `randomx-web/monero-ts`, which quote a node, without a chain and without a node. */
import { expect, test } from "vitest";
import type { ChainFollower } from "../../wasm/js/index.js";
import { checkMoneroTs, type MoneroTs } from "../../wasm/js/monero-ts.js";

const chain = {
  tip: { height: 1, id: "", timestamp: 0, work: 1n },
  sources: [{ index: 0, kind: "node", url: "", state: "following" }],
  isSynced: true,
} as unknown as ChainFollower;

/** Asks a node that answers with a status, of HTTP or in its JSON. */
async function asked(statusText: string, status: string): Promise<unknown> {
  const statusCode = statusText ? 500 : 200;
  const body = JSON.stringify({ result: { status } });
  const library: MoneroTs = {
    HttpClient: { request: () => Promise.resolve({ statusCode, statusText, headers: {}, body }) },
    LibraryUtils: { invokeWorker: () => Promise.resolve(undefined) },
  };
  checkMoneroTs(library, chain);
  const question = JSON.stringify({ method: "get_info" });
  const uri = "http://127.0.0.1:1/json_rpc";
  return library.HttpClient.request({ uri, body: question, proxyToWorker: false });
}

const LONG = `\u{202e}${"x".repeat(100_000)}`;

test("a node's words are shortened, and cannot reverse a terminal's text", async () => {
  await expect(asked("", LONG)).rejects.toThrow(/^the node answered "\\u\{202e\}x{180}$/u);
  await expect(asked(LONG, "OK")).rejects.toThrow(/^500 \\u\{202e\}x{195}$/u);
});
