/** What the package says of itself: its manifest, its exports, its types. */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { expect, inject, test } from "vitest";
import { freshProject, repositoryPath } from "./project.js";

const GIVEN = [
  ...["saved", "block", "seedHash", "nextSeedHash", "difficulty", "expectedId", "height"],
  ...["key", "inputs", "hashingBlob", "hashingBlobs"],
];

/** Runs a tool of the repository; what it prints is in the error when it fails. */
function run(script: string, options: readonly string[], cwd: string): void {
  const file = repositoryPath(`node_modules/${script}`);
  try {
    execFileSync(process.execPath, [file, ...options], { cwd, stdio: "pipe", encoding: "utf8" });
  } catch (error) {
    throw new Error((error as { stdout: string }).stdout, { cause: error });
  }
}

test("publint has nothing to say", async () => {
  const folder = freshProject("types");
  const pkgDir = join(folder, "node_modules/randomx-web");
  const { messages, pkg } = await publint({ pkgDir, strict: true, pack: false });
  expect(messages.map((message) => formatMessage(message, pkg, { color: false }))).toEqual([]);
});

test("attw: the types of every entry are found, in each way in which TypeScript looks", () => {
  const options = [
    "--profile",
    "esm-only",
    "--exclude-entrypoints",
    "./randomx.wasm",
    "./monero.wasm",
  ];
  run("@arethetypeswrong/cli/dist/index.js", [inject("tarball"), ...options], repositoryPath(""));
});

test("what the README shows has the types that there are", () => {
  const folder = freshProject("types");
  const readme = readFileSync(join(folder, "node_modules/randomx-web/README.md"), "utf8");
  const examples = [...readme.matchAll(/```[jt]s\n(.*?)```/gsu)].map(([, code = ""]) => code);
  expect(examples.length).toBeGreaterThan(5);
  const files = examples.map((code, index) => {
    const lines = code.split("\n");
    const isImport = (line: string): boolean => line.startsWith("import ");
    const program = [
      'import { RandomX } from "randomx-web";',
      ...lines.filter((line) => isImport(line) && !line.includes("{ RandomX }")),
      // What an example takes for granted.
      `declare const ${GIVEN.map((name) => `${name}: any`).join(", ")}, randomx: RandomX;`,
      "declare const blobs: () => AsyncIterable<Uint8Array>;",
      "export async function example() {",
      ...lines.filter((line) => !isImport(line)),
      "}",
    ].map((line) => line.replace("import { MoneroNode, RandomX }", "import { MoneroNode }"));
    const name = `example-${index}.ts`;
    writeFileSync(join(folder, name), program.join("\n"));
    return name;
  });
  const options = ["--noEmit", "--strict", "--target", "es2022", "--lib", "es2022,dom"];
  const how = ["--moduleResolution", "bundler", "--module", "esnext"];
  run("typescript/bin/tsc", [...options, ...how, ...files], folder);
});

test.each([
  ["bundler", "esnext", "es2022,dom"],
  ["nodenext", "nodenext", "es2022,dom"],
  ["nodenext", "nodenext", "es2022,webworker"],
])("a strict project, resolving as %s, a module of %s, with lib %s", (resolution, module, lib) => {
  const options = ["--noEmit", "--strict", "--target", "es2022", "--lib", lib];
  const how = ["--moduleResolution", resolution, "--module", module];
  run("typescript/bin/tsc", [...options, ...how, "use.ts"], freshProject("types"));
});
