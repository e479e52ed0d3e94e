/** A daemon with a fixed difficulty: 300 blocks, its responses about them, and lies about one. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { NodeBlock } from "../../wasm/js/monero/answers.js";
import { MoneroNode } from "../../wasm/js/monero/node.js";
import { RandomX } from "../node/support.js";
import { Cleanup } from "./cleanup.js";
import { failedChecks, hex, verifyBlocks } from "./package.js";
import { failed, verify } from "./cli.js";
import { Daemon } from "./daemon.js";
import { idOf, LIES } from "./lies.js";
import { Proxy } from "./proxy.js";

const BLOCKS = 300;
const FIXED = ["--fixed-difficulty", "1"];

const cleanup = new Cleanup();
let daemon: Daemon;
let ids: string[];
let hashes: string[];
let randomx: Awaited<ReturnType<typeof RandomX.create>>;

beforeAll(async () => {
  randomx = await RandomX.create();
  cleanup.add(() => {
    randomx.dispose();
  });
  daemon = await Daemon.start(1);
  cleanup.add(() => daemon.stop());
  ids = await daemon.generate(BLOCKS);
  hashes = await powHashes(1, BLOCKS);
});

afterAll(() => cleanup.run());

/** Returns the proof-of-work hashes that the daemon computes for blocks. */
async function powHashes(first: number, last: number): Promise<string[]> {
  const range = { start_height: first, end_height: last, fill_pow_hash: true };
  const { headers } = (await daemon.call("get_block_headers_range", range)) as {
    headers: { pow_hash: string }[];
  };
  return headers.map(({ pow_hash }) => pow_hash);
}

test("the client reads the blocks that the daemon mined", async () => {
  const node = new MoneroNode(daemon.url);
  const info = await node.getInfo();
  expect(info).toMatchObject({
    height: BLOCKS + 1,
    nettype: "fakechain",
    topBlockHash: ids.at(-1),
  });
  const blocks: NodeBlock[] = [];
  for await (const block of node.getBlocks(1, BLOCKS)) blocks.push(block);
  expect(blocks.map(({ header }) => header.id)).toEqual(ids);
  const headers = await node.getBlockHeadersRange(1, BLOCKS);
  expect(blocks.map(({ header }) => header)).toEqual(headers);
  expect(await node.getBlockHeaderByHeight(7)).toEqual(headers[6]);
  expect(await node.getBlock(ids[6] ?? "")).toEqual(blocks[6]);
  const beyond = {
    code: "node-refused",
    message: expect.stringContaining("greater than") as string,
  };
  await expect(node.getBlock(BLOCKS + 1)).rejects.toMatchObject(beyond);
});

test("the command line and the daemon agree on every id and hash", async () => {
  const run = await verify(daemon.url, "--from", "1", ...FIXED);
  expect(run.code, run.stderr).toBe(0);
  expect(run.verdicts.map(({ id }) => id)).toEqual(ids);
  expect(run.verdicts.map(({ hash }) => hash)).toEqual(hashes);
});

test("the package and the daemon agree on every id and hash", async () => {
  const run = await verifyBlocks(randomx, daemon.url, [1, BLOCKS], { fixedDifficulty: 1n });
  expect(run.code).toBeUndefined();
  expect(run.verdicts.every(({ valid }) => valid)).toBe(true);
  expect(run.verdicts.map(({ id }) => hex(id))).toEqual(ids);
  expect(run.verdicts.map(({ hash }) => hex(hash))).toEqual(hashes);
});

test("the package and the daemon agree on a hashing blob and its hash", async () => {
  const template = await daemon.template();
  const hash = await randomx.hash(template.seedHash, template.hashingBlob);
  const asked = {
    major_version: template.hashingBlob[0],
    height: template.height,
    block_blob: template.hashingBlob.toString("hex"),
    seed_hash: template.seedHash,
  };
  expect(Buffer.from(hash).toString("hex")).toBe(await daemon.call("calc_pow", asked));
  // The block of that hashing blob: its difficulty is 1, so every nonce is valid.
  await daemon.submit(template.block);
  const { header } = await new MoneroNode(daemon.url).getBlock(template.height);
  expect(header.id).toBe(idOf(template.hashingBlob));
  expect((await powHashes(template.height, template.height))[0]).toBe(
    Buffer.from(hash).toString("hex"),
  );
});

describe("a node that sends", () => {
  test.each(LIES)("$name", async ({ alter, checks, code, sentence, timeout = 60 }) => {
    const height = 150;
    const proxy = await Proxy.before(daemon.url, alter(height));
    try {
      const args = ["--from", "145", "--to", "155", "--retries", "0", ...FIXED];
      const run = await verify(proxy.url, ...args, "--timeout", String(timeout));
      if (checks) {
        expect(run.code, run.stderr).toBe(1);
        expect(failed(run)).toEqual(checks);
      } else {
        expect(run.code).toBe(2);
        expect(run.stderr).toContain(sentence);
      }
      const valid = run.verdicts.filter((verdict) => verdict.valid);
      expect(valid.map((verdict) => verdict.height)).toEqual([145, 146, 147, 148, 149]);

      const options = { fixedDifficulty: 1n };
      const run2 = await verifyBlocks(randomx, proxy.url, [145, 155], options, 1000 * timeout);
      expect(run2.code).toBe(code);
      if (checks) expect(failedChecks(run2)).toEqual(checks);
      expect(run2.verdicts.filter(({ valid }) => valid)).toHaveLength(5);
    } finally {
      proxy.close();
    }
  });
});
