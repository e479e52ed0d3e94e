/** Monero's rules that cannot be loaded: only the calls that need them fail, until they can be loaded. */
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, expect, test } from "vitest";
import type * as product from "../../../wasm/js/index.js";
import { AnyRandomX, watchWorkers } from "../support.js";
import { LEAST, headerChain, whole } from "./support.js";

const [known] = whole;
if (!known) throw new Error("there is a block");
const block = { seedHash: known.seed_hash, difficulty: LEAST, block: known.block_blob };
const BLOCK = new URL("../../../wasm/block/pkg/randomx_block_wasm_bg.wasm", import.meta.url);
const MONERO = new URL("../../../wasm/monero/pkg/randomx_monero_wasm_bg.wasm", import.meta.url);
const workers = watchWorkers();
const folder = mkdtempSync(join(tmpdir(), "randomx-rules-"));

afterAll(() => {
  rmSync(folder, { recursive: true });
});

test("rules that cannot be loaded harm neither the worker nor other shares", async () => {
  const file = join(folder, "monero.wasm");
  using randomx = await AnyRandomX.create({ threads: 1, moneroWasmUrl: pathToFileURL(file) });
  const common = { seed: known.seed_hash, hash: known.pow_hash, difficulty: 1 };
  const verify = async (): Promise<product.ShareVerdict[]> =>
    Promise.all(
      randomx.verifyShares([
        { ...common, block: known.block_blob },
        { ...common, blob: known.hashing_blob },
      ]),
    );
  const error = {
    code: "worker-failed",
    message: expect.stringContaining("monero.wasm") as string,
  };
  expect(await verify()).toMatchObject([{ status: "failed", error }, { status: "valid" }]);
  await expect(randomx.verifyBlock(block)).rejects.toMatchObject(error);
  await expect(randomx.seedHeight(1)).rejects.toMatchObject(error);

  copyFileSync(MONERO, file);
  expect(await verify()).toMatchObject([{ status: "valid" }, { status: "valid" }]);
  expect(await randomx.verifyBlock(block)).toMatchObject({ valid: true });
  expect(randomx.stats().caches.count).toBe(1);
  expect(workers).toHaveLength(1);
});

test("a block needs only the module for blocks, or the one for chains if it is loaded", async () => {
  const missing = pathToFileURL(join(folder, "missing.wasm"));
  const [header] = headerChain();
  if (!header) throw new Error("there is a header");
  const verifyChain = async (randomx: product.RandomX): Promise<void> => {
    const found: string[] = [];
    for await (const { status } of randomx.verifyChain([header], { from: header.height ?? 0 })) {
      found.push(status);
    }
    expect(found).toEqual(["valid"]);
  };
  const error = {
    code: "worker-failed",
    message: expect.stringContaining("missing.wasm") as string,
  };

  const blocks = { threads: 1, blockWasmUrl: BLOCK, moneroWasmUrl: missing };
  using ofBlocks = await AnyRandomX.create(blocks);
  expect(await ofBlocks.verifyBlock(block)).toMatchObject({ valid: true });
  await expect(verifyChain(ofBlocks)).rejects.toMatchObject(error);
  expect(await ofBlocks.seedHeight(1)).toBe(0);

  const chains = { threads: 1, blockWasmUrl: missing, moneroWasmUrl: MONERO };
  using ofChains = await AnyRandomX.create(chains);
  await expect(ofChains.verifyBlock(block)).rejects.toMatchObject(error);
  await verifyChain(ofChains);
  expect(await ofChains.verifyBlock(block)).toMatchObject({ valid: true });
});
