/** The client of Monero's daemon, with a server whose answers each test chooses. */
import { describe, expect, test, vi } from "vitest";
import { MoneroNode } from "../../wasm/js/monero/node.js";
import { block, header, info, nodeThat, type Answer, type Json } from "./fake-node.js";
import { eventually } from "./support.js";

describe("answers", () => {
  test("are converted to typed values", async () => {
    const node = await nodeThat(({ method, params }) => {
      switch (method) {
        case "get_info":
          return { ...info(5), other: "fields are ignored" };
        case "get_block_header_by_height":
          return { status: "OK", block_header: header(params.height as number) };
        case "get_block_headers_range":
          return { status: "OK", headers: [header(3), header(4), header(5)] };
        default:
          return block((params.height ?? 9) as number);
      }
    });
    expect(await node.getInfo()).toEqual({
      height: 5,
      topBlockHash: "aa".repeat(32),
      difficulty: 16n,
      nettype: "fakechain",
      synchronized: true,
    });
    const three = await node.getBlockHeaderByHeight(3);
    expect(three).toEqual({
      height: 3,
      id: "11".repeat(32),
      prevId: "22".repeat(32),
      majorVersion: 16,
      minorVersion: 16,
      timestamp: 1_700_000_003,
      nonce: 7,
      transactionCount: 3,
      minerTransactionId: "33".repeat(32),
      difficulty: 511n,
      cumulativeDifficulty: 2n ** 65n + 1n,
    });
    expect((await node.getBlockHeadersRange(3, 5)).map(({ height }) => height)).toEqual([3, 4, 5]);
    expect((await node.getBlock(8)).blob).toEqual(Uint8Array.of(10, 11));
    expect((await node.getBlock("11".repeat(32))).header.height).toBe(9);
    const heights = [];
    for await (const { header } of node.getBlocks(1, 20)) heights.push(header.height);
    expect(heights).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
  });

  test.each<[string, Json]>([
    ["blob: expected hex, at most 1048576 bytes", { blob: "0a0" }],
    ["blob: expected hex, at most 1048576 bytes", { blob: "0A" }],
    ["blob: expected hex, at most 1048576 bytes", { blob: "" }],
    ["blob: expected hex, at most 1048576 bytes", { blob: 5 }],
    ["block_header: expected an object", { block_header: [] }],
    ["block_header: expected an object", { block_header: null }],
    ...[
      ["height: expected 8, got 9", { height: 9 }],
      ["height: expected a whole number from 0 to 9007199254740991", { height: "8" }],
      ["height: expected a whole number from 0 to 9007199254740991", { height: 2 ** 53 }],
      ["height: expected a whole number from 0 to 9007199254740991", { height: -1 }],
      ["timestamp: expected a whole number from 0 to 9007199254740991", { timestamp: 0.5 }],
      ["nonce: expected a whole number from 0 to 4294967295", { nonce: 2 ** 32 }],
      ["major_version: expected a whole number from 0 to 255", { major_version: 256 }],
      ["hash: expected 64 hex digits", { hash: "11".repeat(31) }],
      ["prev_hash: expected 64 hex digits", { prev_hash: `${"22".repeat(31)}zz` }],
      [
        "orphan_status: expected a block of the node's chain, got an orphan",
        { orphan_status: true },
      ],
      ["orphan_status: expected true or false", { orphan_status: undefined }],
      ["pow_hash: expected 64 hex digits", { pow_hash: "1" }],
      [
        "wide_difficulty: expected 0x, up to 32 hex digits, and not zero",
        { wide_difficulty: "0x0" },
      ],
      ["wide_difficulty: expected 0x, up to 32 hex digits, and not zero", { wide_difficulty: 1 }],
    ].map(([message, change]): [string, Json] => [
      `block_header: ${message as string}`,
      { block_header: header(8, change as Json) },
    ]),
  ])("with a wrong field are refused: %s", async (message, change) => {
    const node = await nodeThat(() => block(8, change));
    await expect(node.getBlock(8)).rejects.toMatchObject({
      name: "RandomXError",
      code: "node-invalid",
      message: `get_block: ${message}`,
    });
  });

  test("about another block than the requested id are refused", async () => {
    const node = await nodeThat(() => block(8));
    await expect(node.getBlock("22".repeat(32))).rejects.toMatchObject({
      code: "node-invalid",
      message: `get_block: block_header: hash: expected ${"22".repeat(32)}, got ${"11".repeat(32)}`,
    });
  });

  test.each<[string, unknown]>([
    ["headers: expected a list of 2 objects", [header(4)]],
    ["headers: expected a list of 2 objects", [header(4), header(5), header(6)]],
    ["headers: expected a list of 2 objects", [header(4), null]],
    ["headers[1]: height: expected 5, got 4", [header(4), header(4)]],
  ])("with wrong headers are refused: %s", async (message, headers) => {
    const node = await nodeThat(() => ({ status: "OK", headers }));
    await expect(node.getBlockHeadersRange(4, 5)).rejects.toMatchObject({
      code: "node-invalid",
      message: `get_block_headers_range: ${message}`,
    });
  });
});

describe("transactions", () => {
  const id = "ab".repeat(32);
  const tx = { tx_hash: id, block_height: 7, in_pool: false, as_hex: "00" };

  test.each<[number | undefined, Json]>([
    [7, { txs: [tx] }],
    [undefined, { missed_tx: [id] }],
    [undefined, { txs: [{ ...tx, in_pool: true }] }],
  ])("are at height %s", async (height, change) => {
    // This call is none of JSON-RPC, and has its own path.
    const node = await nodeThat((asked, response) => {
      expect(asked).toMatchObject({ txs_hashes: [id], prune: true });
      response.end(JSON.stringify({ status: "OK", ...change }));
    });
    expect(await node.getTransactionHeight(id)).toBe(height);
  });

  test.each<[string, unknown]>([
    ["txs: expected a list of 1 objects", []],
    ["txs: expected a list of 1 objects", [tx, tx]],
    [`txs[0]: tx_hash: expected ${id}`, [{ ...tx, tx_hash: "cd".repeat(32) }]],
    ["txs[0]: in_pool: expected true or false", [{ ...tx, in_pool: 1 }]],
  ])("with a wrong field are refused: %s", async (message, txs) => {
    const node = await nodeThat((_, response) => {
      response.end(JSON.stringify({ status: "OK", txs }));
    });
    await expect(node.getTransactionHeight(id)).rejects.toMatchObject({
      code: "node-invalid",
      message: `get_transactions: ${message}`,
    });
  });
});

describe("checkpoints", () => {
  const chain = (asked: Json[]): Answer => {
    return ({ method, params }) => {
      asked.push(params);
      if (method === "get_block_header_by_height") {
        return { status: "OK", block_header: header(params.height as number) };
      }
      const [first, last] = [params.start_height as number, params.end_height as number];
      const headers = Array.from({ length: last - first + 1 }, (_, index) => header(first + index));
      return { status: "OK", headers };
    };
  };

  test("contain the blocks that the rules need, and the last two keys", async () => {
    const asked: Json[] = [];
    const node = await nodeThat(chain(asked));
    const checkpoint = await node.getCheckpoint(5000);
    expect(asked[0]).toEqual({ start_height: 4266, end_height: 5000 });
    expect(checkpoint).toMatchObject({ height: 5000, id: "11".repeat(32) });
    expect(checkpoint.recent).toHaveLength(735);
    expect(checkpoint.recent[0]).toEqual({ timestamp: 1_700_004_266, difficulty: "511" });
    expect(checkpoint.seeds).toEqual([
      { height: 2048, id: "11".repeat(32) },
      { height: 4096, id: "11".repeat(32) },
    ]);
  });

  test("near the genesis block contain all blocks", async () => {
    const node = await nodeThat(chain([]));
    const checkpoint = await node.getCheckpoint(0);
    expect(checkpoint.recent).toHaveLength(1);
    expect(checkpoint.seeds.map(({ height }) => height)).toEqual([0]);
    await expect(node.getCheckpoint(-1)).rejects.toMatchObject({ code: "invalid-argument" });
  });
});

describe("failures", () => {
  test.each<[string, string, string]>([
    ["node-invalid", "get_info: the answer is not JSON", "{"],
    ["node-invalid", "get_info: the answer is not JSON", "[".repeat(10_000)],
    ["node-invalid", "get_info: the answer has no result", "[]"],
    ["node-invalid", "get_info: the answer has no result", '{"result":7}'],
    ["node-refused", 'get_info: the node answers "no"', '{"error":{"code":-2,"message":"no"}}'],
    [
      "node-refused",
      'get_info: the node\'s status is "PAYMENT"',
      '{"result":{"status":"PAYMENT"}}',
    ],
  ])("%s: %s", async (code, message, text) => {
    const node = await nodeThat((_, response) => void response.end(text));
    await expect(node.getInfo()).rejects.toMatchObject({ code, message });
  });

  test("of the connection", async () => {
    const node = new MoneroNode("http://127.0.0.1:1", { retries: 0 });
    await expect(node.getInfo()).rejects.toMatchObject({ code: "node-unreachable" });
    const cut = await nodeThat((_, response) => {
      response.writeHead(200, { "Content-Length": 1000 });
      response.write("{");
      setTimeout(() => response.destroy(), 20);
    });
    await expect(cut.getInfo()).rejects.toMatchObject({ code: "node-unreachable" });
  });

  test("by another status or address", async () => {
    const missing = await nodeThat((_, response) => void response.writeHead(404).end());
    const message = "get_info: HTTP status 404";
    await expect(missing.getInfo()).rejects.toMatchObject({ code: "node-unreachable", message });
    const elsewhere = await nodeThat(
      (_, response) => void response.writeHead(307, { Location: "http://127.0.0.1:1/" }).end(),
    );
    await expect(elsewhere.getInfo()).rejects.toMatchObject({ code: "node-unreachable" });
  });

  test.each([
    [4, undefined],
    [5, "node-refused"],
  ])("to send block 4 of a chain of %i blocks: %s", async (length, code) => {
    const node = await nodeThat(({ method, params }, response) => {
      if (method === "get_info") return info(length);
      if (Number(params.height) < 4) return block(Number(params.height));
      return void response.end('{"error":{"code":-5,"message":"no"}}');
    });
    const heights: number[] = [];
    const read = (async () => {
      for await (const { header } of node.getBlocks(1, 9)) heights.push(header.height);
    })();
    if (code === undefined) await read;
    else await expect(read).rejects.toMatchObject({ code });
    expect(heights).toEqual([1, 2, 3]);
  });

  test("a text that is longer than any of its kind is not read to its end", async () => {
    const message = "get_block: an answer with too long a text";
    const long = await nodeThat(() => block(8, { blob: "00".repeat((1 << 20) + 1) }), {
      maxBytes: 8 << 20,
    });
    await expect(long.getBlock(8)).rejects.toMatchObject({ code: "node-too-large", message });
    const digits: Answer = (_, response) => void response.write(`{"a":"${"0".repeat(17 << 10)}`);
    const one = await nodeThat(digits);
    await expect(one.getInfo()).rejects.toMatchObject({ code: "node-too-large" });
    const many = "get_block_headers_range: an answer with too long a text";
    await expect(one.getBlockHeadersRange(1, 1000)).rejects.toThrow(many);
  });

  test("a long answer is not read to its end", async () => {
    let sent = 0;
    const endless: Answer = (_, response) => {
      const more = (): void => {
        while (!response.destroyed && response.write("[]," + " ".repeat(1021))) sent += 1024;
        if (!response.destroyed) response.once("drain", more);
      };
      response.write("[");
      more();
    };
    const node = await nodeThat(endless, { maxBytes: 1 << 20 });
    const message = "get_block: an answer of more than 1048576 bytes";
    await expect(node.getBlock(8)).rejects.toMatchObject({ code: "node-too-large", message });
    expect(sent).toBeLessThan(32 << 20);
    const small = "get_info: an answer of more than 16384 bytes";
    await expect(node.getInfo()).rejects.toMatchObject({ code: "node-too-large", message: small });
    const announced = await nodeThat(
      (_, response) => void response.writeHead(200, { "Content-Length": 100 << 20 }).write("{"),
    );
    await expect(announced.getInfo()).rejects.toMatchObject({ code: "node-too-large" });
  });

  test.each<[string, Answer]>([
    ["nothing", () => undefined],
    [
      "a byte now and then",
      (_, response) => {
        const timer = setInterval(() => response.write(" "), 20);
        response.on("close", () => {
          clearInterval(timer);
        });
      },
    ],
  ])("a timeout ends an answer of %s", async (_, answer) => {
    const node = await nodeThat(answer, { timeout: 200 });
    const message = "get_info: no answer within 200 ms";
    const start = performance.now();
    await expect(node.getInfo()).rejects.toMatchObject({ code: "node-timeout", message });
    // A busy machine may be seconds late.
    expect(performance.now() - start).toBeLessThan(20_000);
  });

  test("of a busy node are retried, others are not", async () => {
    const say: Answer[] = [
      (_, response) => void response.writeHead(503).end(),
      () => ({ status: "BUSY" }),
      () => ({ status: "OK", block_header: header(4) }),
    ];
    const node = await nodeThat((asked, response) => say.shift()?.(asked, response), {
      retries: 2,
    });
    expect((await node.getBlockHeaderByHeight(4)).height).toBe(4);
    let attempts = 0;
    const invalid = await nodeThat(() => ({ status: "OK", attempts: (attempts += 1) }), {
      retries: 2,
    });
    await expect(invalid.getInfo()).rejects.toMatchObject({ code: "node-invalid" });
    expect(attempts).toBe(1);
  });
});

describe("signals", () => {
  test("abort a call, and its pauses", async () => {
    const silent = await nodeThat(() => undefined);
    const signal = AbortSignal.timeout(50);
    await expect(silent.getInfo({ signal })).rejects.toMatchObject({ code: "aborted" });
    const down = await nodeThat((_, response) => void response.writeHead(500).end(), {
      retries: 10,
    });
    const later = AbortSignal.timeout(100);
    await expect(down.getInfo({ signal: later })).rejects.toMatchObject({ code: "aborted" });
    await expect(down.getInfo({ signal: later })).rejects.toMatchObject({ code: "aborted" });
  });

  test("abort blocks that are requested in advance", async () => {
    let open = 0;
    const answer: Answer = ({ params }, response) => {
      if (params.height === 1) return block(1);
      open += 1;
      response.on("close", () => (open -= 1));
      return undefined;
    };
    // A timeout that does not end them first.
    const node = await nodeThat(answer, { timeout: 600_000 });
    for await (const { header } of node.getBlocks(1, 100, { ahead: 4 })) {
      expect(header.height).toBe(1);
      await eventually(() => {
        expect(open).toBeGreaterThan(0);
      });
      break;
    }
    await eventually(() => {
      expect(open).toBe(0);
    });
    const abort = new AbortController();
    const walk = node.getBlocks(1, 100, { signal: abort.signal });
    await walk.next();
    const next = expect(walk.next()).rejects.toMatchObject({ code: "aborted" });
    abort.abort();
    await next;
  });

  test("end blocks while the caller looks at one, although more were received", async () => {
    const node = await nodeThat(({ params }) => block(Number(params.height)));
    const abort = new AbortController();
    const walk = node.getBlocks(1, 100, { signal: abort.signal });
    for (let count = 0; count < 5; count += 1) await walk.next();
    await new Promise((resolve) => setTimeout(resolve, 50));
    abort.abort("enough");
    await expect(walk.next()).rejects.toMatchObject({ code: "aborted", cause: "enough" });
  });
});

test.each<[string, () => unknown]>([
  ["url: expected an address", () => new MoneroNode("127.0.0.1")],
  ["url: expected http: or https:, got file:", () => new MoneroNode("file:///etc")],
  ["url: expected no login", () => new MoneroNode("http://a:b@c")],
  ["timeout: expected a whole number", () => new MoneroNode("http://a", { timeout: 0 })],
  ["retries: expected a whole number", () => new MoneroNode("http://a", { retries: 11 })],
  ["maxBytes: expected a whole number", () => new MoneroNode("http://a", { maxBytes: 1.5 })],
  ["fetch: expected a function", () => new MoneroNode("http://a", { fetch: 1 as never })],
])("refuses an argument: %s", (message, make) => {
  expect(make).toThrow(message);
});

test("asks the named server alone, and tells it nothing about the page", async () => {
  const fetch = vi.fn<typeof globalThis.fetch>(() =>
    Promise.resolve(Response.json({ result: info(5) })),
  );
  await new MoneroNode("http://127.0.0.1:1", { fetch }).getInfo();
  expect(fetch).toHaveBeenCalledOnce();
  expect(fetch.mock.lastCall?.[1]).toMatchObject({
    ...{ redirect: "error", credentials: "omit", referrerPolicy: "no-referrer" },
  });
});

test("refuses wrong arguments of calls", async () => {
  const node = new MoneroNode("http://127.0.0.1:1/path/?query#hash");
  const invalid = { code: "invalid-argument" };
  await expect(node.getBlock(-1)).rejects.toMatchObject(invalid);
  await expect(node.getBlock("11")).rejects.toMatchObject(invalid);
  await expect(node.getBlockHeadersRange(5, 4)).rejects.toMatchObject(invalid);
  await expect(node.getBlockHeadersRange(0, 1000)).rejects.toMatchObject(invalid);
  await expect(node.getBlocks(0, 5, { ahead: 0 }).next()).rejects.toMatchObject(invalid);
});
