/** Ranges of blocks of a node, which are read in advance. */
import { expect, test } from "vitest";
import { FREE_BYTES, Lease } from "../../wasm/js/budget.js";
import { block, info, nodeThat } from "./fake-node.js";
import { eventually } from "./support.js";

test("a range of blocks ends where the node's chain ends", async () => {
  const error = { code: -2, message: "Requested block height: 4 greater than current top" };
  const node = await nodeThat(({ method, params }, response) => {
    if (method === "get_info") return info(4);
    if ((params.height as number) < 4) return block(params.height as number);
    response.end(JSON.stringify({ jsonrpc: "2.0", id: "0", error }));
    return undefined;
  });
  const heights = async (first: number, last: number): Promise<number[]> => {
    const found = [];
    for await (const { header } of node.getBlocks(first, last)) found.push(header.height);
    return found;
  };
  expect(await heights(2, 100)).toEqual([2, 3]);
  expect(await heights(4, 5)).toEqual([]);
  expect(await heights(4, 3)).toEqual([]);
});

test("a node that refuses blocks of its own chain ends no range", async () => {
  const error = { code: -1, message: "no" };
  const node = await nodeThat(({ method }, response) => {
    if (method === "get_info") return info(4);
    response.end(JSON.stringify({ jsonrpc: "2.0", id: "0", error }));
    return undefined;
  });
  await expect(node.getBlocks(3, 3).next()).rejects.toMatchObject({ code: "node-refused" });
});

test("a block that the node receives after its refusal is requested again", async () => {
  const error = { code: -2, message: "Requested block height: 4 greater than current top" };
  let hasRefused = false;
  const node = await nodeThat(({ method, params }, response) => {
    if (method === "get_info") return info(5);
    if (params.height !== 4 || hasRefused) return block(params.height as number);
    hasRefused = true;
    response.end(JSON.stringify({ jsonrpc: "2.0", id: "0", error }));
    return undefined;
  });
  const heights = [];
  for await (const { header } of node.getBlocks(1, 4)) heights.push(header.height);
  expect(heights).toEqual([1, 2, 3, 4]);
});

test("a block that is too large to be read in advance is requested again", async () => {
  const asked: number[] = [];
  const node = await nodeThat(({ params }) => {
    const height = params.height as number;
    asked.push(height);
    return block(height, { blob: "00".repeat(height === 3 ? 200_000 : 10) });
  });
  const lengths = [];
  for await (const { blob } of node.getBlocks(1, 5)) lengths.push(blob.length);
  expect(lengths).toEqual([10, 10, 200_000, 10, 10]);
  expect(asked.filter((height) => height === 3)).toHaveLength(2);
});

test("a long answer beside another one is requested again", async () => {
  const asked: number[] = [];
  const blob = "00".repeat(200_000);
  let finish = (): void => undefined;
  const node = await nodeThat(({ params }, response) => {
    const height = params.height as number;
    asked.push(height);
    if (asked.length > 2) return block(height, { blob });
    const text = JSON.stringify({ result: block(height, { blob }) });
    response.write(text.slice(0, -1));
    // The second answer has no end, so it is the client that closes it.
    if (height === 1) {
      finish = () => response.end(text.slice(-1));
    } else {
      response.once("close", () => {
        finish();
      });
    }
    return undefined;
  });
  const first = node.getBlock(1);
  // Until a part of it has arrived, the first has no share of the budget for long answers.
  await eventually(async () => {
    const other = await Lease.begin(undefined);
    const isFree = other.covers(FREE_BYTES + 1);
    other.end();
    expect(isFree).toBe(false);
  });
  const blocks = await Promise.all([first, node.getBlock(2)]);
  expect(blocks.map(({ blob }) => blob.length)).toEqual([200_000, 200_000]);
  expect(asked).toEqual([1, 2, 2]);
});
