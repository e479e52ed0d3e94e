/** `randomx-web/monero-ts` with the library itself, in Chromium, before a simulated node that lies. */
import { cpSync } from "node:fs";
import { join } from "node:path";
import * as esbuild from "esbuild";
import { expect, onTestFinished } from "vitest";
import { chainOf } from "../node/chain/blocks.js";
import { SimulatedSource } from "../node/chain/source.js";
import { callAt, serve } from "./browser.js";
import { freshProject, fullTest, repositoryPath } from "./project.js";

/** Modules of Node.js that monero-ts names. */
const BUILTINS = ["assert", "child_process", "fs", "http", "https", "path"];

/** The length of the chain, and blocks of it. */
const COUNT = 12;
const HONEST = 8;
const ALTERED = 9;

fullTest("monero-ts in a browser receives what the chain proves", async () => {
  const root = freshProject("monero-ts");
  const path = join(root, "built");
  const stand = join(root, "node-builtins.cjs");
  await esbuild.build({
    absWorkingDir: root,
    entryPoints: { app: "app.js", worker: "randomx-web/worker" },
    bundle: true,
    format: "esm",
    outdir: path,
    // The project has the packed package alone.
    nodePaths: [repositoryPath("node_modules")],
    alias: Object.fromEntries(BUILTINS.map((name) => [name, stand])),
    define: { global: "globalThis" },
    logLevel: "error",
  });
  const dist = join(root, "node_modules/randomx-web/dist");
  cpSync(join(dist, "pkg/randomx_wasm_bg.wasm"), join(path, "randomx.wasm"));
  cpSync(join(dist, "follow/pkg/randomx_follow_wasm_bg.wasm"), join(path, "follow.wasm"));
  cpSync(join(root, "index.html"), join(path, "index.html"));
  const address = await serve(path);

  const chain = chainOf(COUNT);
  const [source, node] = await Promise.all([
    SimulatedSource.start(chain),
    SimulatedSource.start(chain),
  ]);
  onTestFinished(async () => {
    await Promise.all([source.stop(), node.stop()]);
  });
  // The node sends another block of the chain, and says that its own chain is shorter.
  node.fault = ({ name, params }, response) => {
    if (name === "get_block" && params.height === ALTERED) {
      const blob = Buffer.from(chain[HONEST]?.block ?? []).toString("hex");
      const result = { status: "OK", blob };
      response.end(JSON.stringify({ jsonrpc: "2.0", id: "0", result }));
      return true;
    }
    if (name !== "get_height") return false;
    response.end(JSON.stringify({ status: "OK", height: 3 }));
    return true;
  };
  const asked = {
    ...{ source: source.url, node: node.url, height: HONEST, altered: ALTERED },
    ...{ workerUrl: `${address}worker.js`, wasmUrl: "./randomx.wasm" },
    followWasmUrl: "./follow.wasm",
  };
  expect(await callAt(address, "ask", asked)).toMatchObject({
    height: COUNT + 1,
    tip: chain[COUNT]?.id,
    block: chain[HONEST]?.id,
    lie: expect.stringContaining("another block than the chain's") as string,
    worker: expect.stringContaining("nothing is checked in the worker") as string,
    unverified: [],
  });
});
