/** The WebAssembly module of the light client, without its driver. */
import { readFileSync } from "node:fs";
import { bytesToHex } from "@noble/hashes/utils.js";
import { expect, test } from "vitest";
import * as follow from "../../../wasm/follow/pkg/randomx_follow_wasm.js";
import { rules } from "../monero/support.js";
import { chainOf } from "./blocks.js";

const MODULE = new URL("../../../wasm/follow/pkg/randomx_follow_wasm_bg.wasm", import.meta.url);
const NOW = 1_800_000_000;

follow.initSync({ module: readFileSync(MODULE) });

/** Returns the header that a client has of a block after the genesis block. */
function headerOf(hashingBlob: Uint8Array, id: Uint8Array): follow.PlainHeader | undefined {
  const config = new follow.ClientConfig("regtest", "1", 1, 10, 30, new Uint8Array(32));
  const client = config.fromAnchors();
  client.addSource();
  client.tick(NOW);
  for (let action = client.nextAction(); action; action = client.nextAction()) {
    if (action.action === "hash") client.onHash(action.job, new Uint8Array(32), NOW);
    if (action.action !== "request") continue;
    if (action.query === "tip") client.onTip(action.request, 1, id, NOW);
    else client.onHeaders(action.request, Uint8Array.of(hashingBlob.length, ...hashingBlob), NOW);
  }
  const [header] = client.headers(1, 1) as follow.PlainHeader[];
  client.free();
  return header;
}

test("a count of transactions above 2^53 - 1 is not rounded", () => {
  const [, block] = chainOf(1);
  if (!block) throw new Error("the chain has a block");
  const counted = (count: number[]) => {
    const blob = Uint8Array.of(...block.hashingBlob.subarray(0, -1), ...count);
    const { id } = rules.examine(undefined, blob, undefined, undefined, "regtest");
    if (!id) throw new Error("the blob cannot be parsed");
    const header = headerOf(blob, id);
    expect(header?.id).toBe(bytesToHex(id));
    return header?.transactions;
  };
  expect(counted([5])).toBe(5);
  const most = new Array<number>(7).fill(0xff);
  expect(counted([...most, 0x0f])).toBe(Number.MAX_SAFE_INTEGER);
  // 2^53, and 2^64 - 1.
  expect(counted([...new Array<number>(7).fill(0x80), 0x10])).toBe(Number.MAX_SAFE_INTEGER);
  expect(counted([...most, 0xff, 0xff, 0x01])).toBe(Number.MAX_SAFE_INTEGER);
});
