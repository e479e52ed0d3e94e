/** Bundles for servers, which lack the worker's script, and what the caller's thread loads. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import { expect, onTestFinished, test } from "vitest";
import type * as product from "../../wasm/js/index.js";

const entry = fileURLToPath(new URL("../../wasm/dist/js/index.js", import.meta.url));

test.each([
  ["esm", "mjs", /: .*worker\.js/u],
  ["cjs", "cjs", /$/u],
] as const)("in the form %s, the error says what to do", async (format, extension, rest) => {
  const folder = mkdtempSync(join(tmpdir(), "randomx-bundle-"));
  onTestFinished(() => {
    rmSync(folder, { recursive: true });
  });
  const outfile = join(folder, `bundle.${extension}`);
  const options = { bundle: true, platform: "node", logLevel: "error" } as const;
  await build({ ...options, entryPoints: [entry], format, outfile });
  const { RandomX } = (await import(pathToFileURL(outfile).href)) as typeof product;
  const advice =
    /^the worker did not start \(bundles for servers must leave randomx-web external\)/u;
  await expect(RandomX.create({ threads: 1 })).rejects.toMatchObject({
    code: "worker-failed",
    message: expect.stringMatching(new RegExp(advice.source + rest.source, "u")) as string,
  });
});

test("the caller's thread loads none of the workers' rules to verify a chain", async () => {
  const judge = fileURLToPath(new URL("../../wasm/js/monero/judge.ts", import.meta.url));
  const options = { bundle: true, write: false, metafile: true } as const;
  const { metafile } = await build({ ...options, entryPoints: [judge] });
  const loaded = Object.keys(metafile.inputs).filter((file) => file.includes("monero/"));
  expect(loaded.map((file) => file.split("/").at(-1)).sort()).toEqual(["accepted.ts", "judge.ts"]);
});
