/** Requests that are given up. In Firefox the body is cancelled before the request is aborted. */
import { Readable } from "node:stream";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Fetches } from "../../../wasm/js/chain/fetches.js";
import { Exchange } from "../../../wasm/js/monero/exchange.js";
import { MoneroNode } from "../../../wasm/js/monero/node.js";

const engine = vi.hoisted(() => ({ isFirefox: true }));

vi.mock("../../../wasm/js/environment.js", async (original) => ({
  ...(await original<typeof import("../../../wasm/js/environment.js")>()),
  isSpiderMonkey: () => engine.isFirefox,
}));

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

/** A server whose answer comes when a test says so. It notes what happens to the request. */
class Server {
  readonly events: string[] = [];
  answer: () => void = () => undefined;

  readonly fetch: typeof globalThis.fetch = (_, init) => {
    init?.signal?.addEventListener("abort", () => this.events.push("abort"));
    const cancel = (): void => {
      this.events.push("cancel");
    };
    const body = new ReadableStream<Uint8Array>({ type: "bytes", cancel });
    return new Promise((resolve) => {
      this.answer = () => {
        resolve(new Response(body));
      };
    });
  };
}

test.each([false, true])("an answer's body is cancelled first, with a reader: %s", async (read) => {
  const server = new Server();
  const exchange = new Exchange(server.fetch, "http://127.0.0.1:1", undefined);
  server.answer();
  const { body } = await exchange.response;
  if (read && body) void exchange.read(body).read();
  exchange.giveUp();
  expect(server.events).toEqual(["cancel", "abort"]);
});

test("a request that is not answered yet is aborted when its answer comes", async () => {
  const server = new Server();
  const exchange = new Exchange(server.fetch, "http://127.0.0.1:1", undefined);
  exchange.giveUp();
  await vi.advanceTimersByTimeAsync(900);
  expect(server.events).toEqual([]);
  server.answer();
  await vi.advanceTimersByTimeAsync(0);
  expect(server.events).toEqual(["cancel", "abort"]);
});

test("a request that is not answered within a second is aborted", async () => {
  const server = new Server();
  new Exchange(server.fetch, "http://127.0.0.1:1", undefined).giveUp();
  await vi.advanceTimersByTimeAsync(999);
  expect(server.events).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(server.events).toEqual(["abort"]);
});

test("elsewhere, a request that is not answered yet is aborted at once, and a late answer's body is cancelled", async () => {
  vi.resetModules();
  engine.isFirefox = false;
  const { Exchange: Other } = await import("../../../wasm/js/monero/exchange.js");
  engine.isFirefox = true;
  // Its `fetch` ignores the signal.
  const server = new Server();
  new Other(server.fetch, "http://127.0.0.1:1", undefined).giveUp();
  expect(server.events).toEqual(["abort"]);
  server.answer();
  await vi.advanceTimersByTimeAsync(0);
  expect(server.events).toEqual(["abort", "cancel"]);
});

/** A `fetch` whose answers have a stream of Node.js as their body, as those of the package node-fetch have. */
function fetchOfNode(stopped: () => unknown): typeof globalThis.fetch {
  return (_, init) => {
    init?.signal?.addEventListener("abort", stopped);
    const answer = { ok: true, status: 200, headers: new Headers(), body: Readable.from(["{}"]) };
    return Promise.resolve(answer as unknown as Response);
  };
}

const NO_STREAM = "fetch: expected an answer whose body is a ReadableStream";

test("an answer with another stream is a failure of the node, and its request ends", async () => {
  const stopped = vi.fn();
  const node = new MoneroNode("http://127.0.0.1:1", { fetch: fetchOfNode(stopped), retries: 0 });
  await expect(node.getInfo()).rejects.toMatchObject({
    name: "RandomXError",
    code: "node-unreachable",
    message: `get_info: ${NO_STREAM}`,
  });
  expect(stopped).toHaveBeenCalledOnce();
});

test("an answer with another stream is a failure of a followed source", async () => {
  const stopped = vi.fn();
  const posted: unknown[] = [];
  const fetches = new Fetches([fetchOfNode(stopped)], (message) => posted.push(message));
  const url = "http://127.0.0.1:1";
  const request = { id: 1, source: 0, url, body: undefined, label: "a", limit: 1 };
  fetches.receive({ kind: "fetch", request });
  await vi.advanceTimersByTimeAsync(0);
  expect(posted).toEqual([{ kind: "no-response", id: 1, message: NO_STREAM }]);
  expect(stopped).toHaveBeenCalledOnce();
});

test("a request with an aborted signal is not sent", async () => {
  const fetch = vi.fn<typeof globalThis.fetch>();
  const node = new MoneroNode("http://127.0.0.1:1", { fetch, retries: 0 });
  await expect(node.getInfo({ signal: AbortSignal.abort() })).rejects.toMatchObject({
    code: "aborted",
  });
  expect(fetch).not.toHaveBeenCalled();
});
