/** Bundlers, and pages without a bundler, in Chromium, with all configuration that they need. */
import { appendFileSync, cpSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as esbuild from "esbuild";
import { build, createServer } from "vite";
import { expect, onTestFinished, test } from "vitest";
import webpack from "webpack";
import { ISOLATED, hashInWorkerAt, serve, verifyAt, verifyInWorkerAt } from "./browser.js";
import { block, freshProject, fullTest } from "./project.js";

const POLICY =
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'";

/** The folder of the package in a project. */
const PACKAGE = "node_modules/randomx-web/dist";

/** A page that is not isolated has one thread. */
const alone = { valid: true, hash: block.hash, threads: 1 };
const isolated = { ...alone, threads: 2 };

/** Checks that programs for browsers have nothing of the native add-on. */
function expectNothingNative(folder: string): void {
  const files = readdirSync(folder).filter((name) => name.endsWith(".js"));
  expect(files).not.toHaveLength(0);
  for (const name of files) {
    expect(readFileSync(join(folder, name), "utf8")).not.toMatch(
      /createRequire|linux-x64|cacheCount/u,
    );
  }
}

fullTest("Vite, development", async () => {
  const root = freshProject("browser");
  const server = await createServer({
    root,
    configFile: false,
    logLevel: "warn",
    // Vite would find this import, which only a worker has, too late, and reload the page.
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
  expectNothingNative(join(root, "dist/assets"));
  const address = await serve(join(root, "dist"), {
    ...ISOLATED,
    "Content-Security-Policy": POLICY,
  });
  expect(await verifyAt(address)).toEqual(isolated);
  expect(await hashInWorkerAt(address)).toBe(block.hash);
  expect(await verifyInWorkerAt(address)).toEqual(isolated);
});

fullTest("webpack, without a warning and without a path of the machine", async () => {
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
  expectNothingNative(path);
  page(root, path, "main.js");
  const address = await serve(path, ISOLATED);
  expect(await verifyAt(address)).toEqual(isolated);
  expect(await hashInWorkerAt(address)).toBe(block.hash);
  expect(await verifyInWorkerAt(address)).toEqual(isolated);
});

fullTest("esbuild, with the worker as an entry point and copied modules", async () => {
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
  cpSync(join(root, PACKAGE, "block/pkg/randomx_block_wasm_bg.wasm"), join(path, "block.wasm"));
  cpSync(join(root, PACKAGE, "monero/pkg/randomx_monero_wasm_bg.wasm"), join(path, "monero.wasm"));
  page(root, path, "app.js");
  const address = await serve(path, ISOLATED);
  const urls = { wasmUrl: "./randomx.wasm", blockWasmUrl: "./block.wasm" };
  expect(await verifyAt(address, urls)).toEqual(isolated);
  const withChains = { wasmUrl: "./randomx.wasm", moneroWasmUrl: "./monero.wasm" };
  expect(await verifyAt(address, withChains)).toEqual(isolated);
  expect(await hashInWorkerAt(address, urls)).toBe(block.hash);
  expect(await verifyInWorkerAt(address, urls)).toEqual(isolated);
  const workerUrl = `${address}worker.js`;
  expect(await verifyAt(address, { ...urls, workerUrl })).toEqual(isolated);
  await expect(verifyAt(address, { wasmUrl: "./missing.wasm" })).rejects.toMatchObject({
    cause: { message: expect.stringContaining("404") as string },
  });
});

fullTest("a page without a bundler, from a static server", async () => {
  const root = freshProject("browser");
  importMap(root, `./${PACKAGE}/js/index.js`);
  expect(await verifyAt(await serve(root))).toEqual(alone);
  expect(await verifyAt(await serve(root, ISOLATED))).toEqual(isolated);
});

fullTest("a page whose import map demands the published scripts", async () => {
  const root = freshProject("browser");
  const values = readFileSync(join(root, PACKAGE, "integrity.json"), "utf8");
  const integrity = Object.fromEntries(
    Object.entries(JSON.parse(values) as Record<string, string>).map(([name, value]) => [
      `./${PACKAGE}/${name}`,
      value,
    ]),
  );
  importMap(root, `./${PACKAGE}/js/index.js`, integrity);
  expect(await verifyAt(await serve(root, ISOLATED))).toEqual(isolated);
  appendFileSync(join(root, PACKAGE, "js/validate.js"), "\n");
  await expect(verifyAt(await serve(root, ISOLATED))).rejects.toThrow();
});

fullTest("a page that loads the package from another origin", async () => {
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

/** Writes the project's page, which loads a built script. */
function page(root: string, path: string, script: string): void {
  const html = readFileSync(join(root, "index.html"), "utf8");
  writeFileSync(join(path, "index.html"), html.replace("app.js", script));
}

/** Adds an import map with the package's address, and perhaps hashes, to the project's page. */
function importMap(root: string, address: string, integrity?: Record<string, string>): void {
  const map = JSON.stringify({ imports: { "randomx-web": address }, integrity });
  const html = readFileSync(join(root, "index.html"), "utf8");
  const script = `<script type="importmap">${map}</script>`;
  writeFileSync(join(root, "index.html"), html.replace("<script", `${script}<script`));
}
