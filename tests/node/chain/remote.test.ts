/** A follower's thread that sends its worker's requests, as in WebKit: answers, failures and aborts arrive as sent. */
import { expect, test, vi } from "vitest";
import { Fetches } from "../../../wasm/js/chain/fetches.js";
import { Remote } from "../../../wasm/js/chain/remote.js";
import type { FromChain, ToChain } from "../../../wasm/js/chain/protocol.js";
import { MoneroNode } from "../../../wasm/js/monero/node.js";

vi.mock("../../../wasm/js/flood.js", async (original) => ({
  ...(await original<typeof import("../../../wasm/js/flood.js")>()),
  BUFFERS_WITHOUT_LIMIT: true,
}));

const ID = "ab".repeat(32);

const INFO = {
  ...{ status: "OK", height: 5, top_block_hash: ID },
  ...{ wide_difficulty: "0x1", nettype: "fakechain", synchronized: true },
};

/** Returns a node whose requests the given `fetch` answers, through both threads' ends. */
function nodeThrough(fetch: typeof globalThis.fetch, timeout = 5000): MoneroNode {
  const copy = <M>(message: M): M => structuredClone(message);
  const remote = new Remote((message: FromChain) => {
    const sent = copy(message);
    if (sent.kind === "fetch" || sent.kind === "more" || sent.kind === "cancel") {
      fetches.receive(sent);
    }
  });
  const fetches = new Fetches([fetch], (message: ToChain) => {
    const sent = copy(message);
    if (sent.kind === "response" || sent.kind === "bytes" || sent.kind === "no-response") {
      remote.receive(sent);
    }
  });
  return new MoneroNode("http://127.0.0.1:1", { fetch: remote.of(0), timeout, retries: 0 });
}

test("a whole answer arrives", async () => {
  const node = nodeThrough(() => Promise.resolve(Response.json({ result: INFO })));
  expect(await node.getInfo()).toMatchObject({ height: 5 });
});

test("an answer over its limit keeps its code, so that a long block is asked for again", async () => {
  const node = nodeThrough(() => Promise.resolve(new Response(" ".repeat(1 << 20))));
  await expect(node.getInfo()).rejects.toMatchObject({
    code: "node-too-large",
    message: "get_info: an answer of more than 16384 bytes",
  });
});

test("a refused request keeps its status in the message", async () => {
  const node = nodeThrough(() => Promise.resolve(new Response("", { status: 404 })));
  await expect(node.getInfo()).rejects.toMatchObject({
    code: "node-unreachable",
    message: "get_info: HTTP status 404",
  });
});

test("an abort reaches the request, and nothing waits for a body that never ends", async () => {
  let signal: AbortSignal | null | undefined;
  const endless = new ReadableStream({ pull: () => new Promise(() => undefined) });
  const node = nodeThrough((_, init) => {
    signal = init?.signal;
    return Promise.resolve(new Response(endless));
  }, 200);
  await expect(node.getInfo()).rejects.toMatchObject({ code: "node-timeout" });
  expect(signal?.aborted).toBe(true);
});
