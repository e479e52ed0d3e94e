/** Monero's rules that cannot be loaded: only the calls that need them fail, until they can be loaded. */
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, expect, test } from "vitest";
import type * as product from "../../../wasm/js/index.js";
import { AnyRandomX, watchWorkers } from "../support.js";
import { LEAST, whole } from "./support.js";

const [known] = whole;
if (!known) throw new Error("there is a block");
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
  const block = { seedHash: known.seed_hash, difficulty: LEAST, block: known.block_blob };
  await expect(randomx.verifyBlock(block)).rejects.toMatchObject(error);
  await expect(randomx.seedHeight(1)).rejects.toMatchObject(error);

  copyFileSync(
    new URL("../../../wasm/monero/pkg/randomx_monero_wasm_bg.wasm", import.meta.url),
    file,
  );
  expect(await verify()).toMatchObject([{ status: "valid" }, { status: "valid" }]);
  expect(await randomx.verifyBlock(block)).toMatchObject({ valid: true });
  expect(randomx.stats().caches.count).toBe(1);
  expect(workers).toHaveLength(1);
});
