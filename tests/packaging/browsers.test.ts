/** Bundlers, and pages without one, in Chromium. Whatever a project needs beside the package's name is here. */
import { cpSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as esbuild from "esbuild";
import { build, createServer } from "vite";
import { expect, onTestFinished, test } from "vitest";
import webpack from "webpack";
import { ISOLATED, hashInWorkerAt, serve, verifyAt, verifyInWorkerAt } from "./browser.js";
import { block, freshProject } from "./project.js";

const POLICY =
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'";

/** The package's files in a project. */
const PACKAGE = "node_modules/randomx-web/dist";

const right = { valid: true, hash: block.hash };
const alone = { ...right, threads: 1 };
const isolated = { ...right, threads: 2 };

test("Vite, development", async () => {
  const root = freshProject("browser");
  const server = await createServer({
    root,
    configFile: false,
    logLevel: "warn",
    // Vite finds what only a worker imports when that asks for it, and then loads the page again.
    optimizeDeps: { include: ["randomx-web/sync"] },
  });
  onTestFinished(() => server.close());
  await server.listen(0);
  const address = server.resolvedUrls?.local[0] ?? "";
  expect(await verifyAt(address)).toEqual(alone);
  expect(await hashInWorkerAt(address)).toBe(block.hash);
  expect(await verifyInWorkerAt(address)).toEqual(alone);
});

test("Vite, built, isolated, under a strict policy", async () => {
  const root = freshProject("browser");
  await build({ root, configFile: false, logLevel: "warn" });
  const address = await serve(join(root, "dist"), {
    ...ISOLATED,
    "Content-Security-Policy": POLICY,
  });
  expect(await verifyAt(address)).toEqual(isolated);
  expect(await hashInWorkerAt(address)).toBe(block.hash);
  expect(await verifyInWorkerAt(address)).toEqual(isolated);
});

test("webpack, without a warning and without a path of the machine", async () => {
  const root = freshProject("browser");
  const path = join(root, "built");
  const stats = await new Promise<webpack.Stats | undefined>((resolve, reject) => {
    const entry = "./app.js";
    webpack({ mode: "production", context: root, entry, output: { path } }, (error, stats) => {
      if (error) reject(error);
      else resolve(stats);
    });
  });
  expect(stats?.toJson({ all: false, errors: true, warnings: true })).toMatchObject({
    errors: [],
    warnings: [],
  });
  for (const name of readdirSync(path).filter((name) => name.endsWith(".js"))) {
    expect(readFileSync(join(path, name), "utf8")).not.toContain("file:///");
  }
  page(root, path, "main.js");
  const address = await serve(path, ISOLATED);
  expect(await verifyAt(address)).toEqual(isolated);
  expect(await hashInWorkerAt(address)).toBe(block.hash);
  expect(await verifyInWorkerAt(address)).toEqual(isolated);
});

test("esbuild: the worker is an entry of its own, the module is copied", async () => {
  const root = freshProject("browser");
  const path = join(root, "built");
  await esbuild.build({
    absWorkingDir: root,
    entryPoints: {
      app: "app.js",
      waiting: "waiting.js",
      blocking: "blocking.js",
      worker: "randomx-web/worker",
    },
    bundle: true,
    format: "esm",
    outdir: path,
  });
  cpSync(join(root, PACKAGE, "pkg/randomx_wasm_bg.wasm"), join(path, "randomx.wasm"));
  cpSync(join(root, PACKAGE, "monero/pkg/randomx_monero_wasm_bg.wasm"), join(path, "monero.wasm"));
  page(root, path, "app.js");
  const address = await serve(path, ISOLATED);
  const told = { wasmUrl: "./randomx.wasm", moneroWasmUrl: "./monero.wasm" };
  expect(await verifyAt(address, told)).toEqual(isolated);
  expect(await hashInWorkerAt(address, told)).toBe(block.hash);
  expect(await verifyInWorkerAt(address, told)).toEqual(isolated);
  const workerUrl = `${address}worker.js`;
  expect(await verifyAt(address, { ...told, workerUrl })).toEqual(isolated);
  await expect(verifyAt(address, { wasmUrl: "./missing.wasm" })).rejects.toMatchObject({
    cause: { message: expect.stringContaining("404") as string },
  });
});

test("a page without a bundler, from a static server", async () => {
  const root = freshProject("browser");
  importMap(root, `./${PACKAGE}/js/index.js`);
  expect(await verifyAt(await serve(root))).toEqual(alone);
  expect(await verifyAt(await serve(root, ISOLATED))).toEqual(isolated);
});

test("a page that takes the package from another origin", async () => {
  const root = freshProject("browser");
  const network = await serve(join(root, PACKAGE), {
    "Access-Control-Allow-Origin": "*",
    "Cross-Origin-Resource-Policy": "cross-origin",
  });
  importMap(root, `${network}js/index.js`);
  expect(await verifyAt(await serve(root))).toEqual(alone);
  expect(await verifyAt(await serve(root, ISOLATED))).toEqual(isolated);
  const workerUrl = `${network}js/worker.js`;
  expect(await verifyAt(await serve(root), { workerUrl })).toEqual(alone);
});

/** Has the project's page load a built script. */
function page(root: string, path: string, script: string): void {
  const html = readFileSync(join(root, "index.html"), "utf8");
  writeFileSync(join(path, "index.html"), html.replace("app.js", script));
}

/** Tells the project's page where the package is. */
function importMap(root: string, address: string): void {
  const map = JSON.stringify({ imports: { "randomx-web": address } });
  const html = readFileSync(join(root, "index.html"), "utf8");
  const script = `<script type="importmap">${map}</script>`;
  writeFileSync(join(root, "index.html"), html.replace("<script", `${script}<script`));
}
