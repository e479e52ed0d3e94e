/** The build of the published files. */
import { execFile } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), "randomx-build-"));
const own = join(folder, "wasm");

/** The files of a small package, and empty ones in place of the scripts that describe it. */
const FILES = {
  "node_modules/typescript/index.mjs": `export { default } from ${JSON.stringify(import.meta.resolve("typescript"))};`,
  "node_modules/typescript/package.json": '{ "exports": "./index.mjs" }',
  "crates/xtask/scripts/crates.mjs": "export const linkedCrates = () => [];",
  "crates/xtask/scripts/notices.mjs": 'export const notices = () => "";',
  "crates/xtask/scripts/sbom.mjs": 'export const sbom = () => "";',
  "wasm/tsconfig.json":
    '{ "include": ["js"], "compilerOptions": { "rootDir": "js", "lib": ["ES5"], "types": [] } }',
  "wasm/package.json": "{}",
  ...Object.fromEntries(
    ["pkg", "block/pkg", "monero/pkg", "follow/pkg"].map((name) => [
      `wasm/${name}/build.json`,
      "[]",
    ]),
  ),
};

/** Builds the package with a source file. */
async function build(source: string): Promise<void> {
  writeFileSync(join(own, "js/index.ts"), source);
  await run(process.execPath, [join(own, "build.mjs")]);
}

/** Returns the published files with what they contain. */
function published(): [string, string][] {
  const all = readdirSync(join(own, "dist"), { recursive: true, withFileTypes: true });
  return all
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => [name, readFileSync(join(parentPath, name), "utf8")]);
}

beforeAll(() => {
  for (const [name, content] of Object.entries(FILES)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  mkdirSync(join(own, "js"));
  cpSync(fileURLToPath(new URL("../../wasm/build.mjs", import.meta.url)), join(own, "build.mjs"));
});

afterAll(() => {
  rmSync(folder, { recursive: true });
});

test("a package with a wrong type is not published, and the old one stays", async () => {
  await build("export const size = 1;");
  const before = published();
  expect(before).toContainEqual(["index.js", expect.stringContaining("size = 1") as string]);
  await expect(build("export const size: string = 2;")).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/js\/index\.ts.* error TS2322/u) as string,
  });
  expect(published()).toEqual(before);
  expect(readdirSync(own).filter((name) => name.startsWith("dist"))).toEqual(["dist"]);
});
