/** The package's manifest, exports and types. */
import { execFileSync } from "node:child_process";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { expect, inject, test } from "vitest";
import { freshProject, repositoryPath } from "./project.js";

/** The kind of link to a folder that every user of Windows may make. Other systems ignore it. */
const LINK = "junction";

/** Variables that the README's examples use without a declaration. */
const GIVEN = [
  ...["block", "seedHash", "nextSeedHash", "difficulty", "expectedId", "height"],
  ...["key", "inputs", "hashingBlob", "hashingBlobs", "txid", "blob", "first", "last"],
  ...["node", "another", "store"],
  ...["nonce", "target", "result", "job", "extraNonce", "retry", "accept"],
];

/** Runs a tool of the repository. If it fails, the error contains its output. */
function run(script: string, options: readonly string[], cwd: string): void {
  const file = repositoryPath(`node_modules/${script}`);
  try {
    execFileSync(process.execPath, [file, ...options], { cwd, stdio: "pipe", encoding: "utf8" });
  } catch (error) {
    throw new Error((error as { stdout: string }).stdout, { cause: error });
  }
}

test("publint finds nothing", async () => {
  const folder = freshProject("types");
  const pkgDir = join(folder, "node_modules/randomx-web");
  const { messages, pkg } = await publint({ pkgDir, strict: true, pack: false });
  expect(messages.map((message) => formatMessage(message, pkg, { color: false }))).toEqual([]);
});

test("attw finds the types of every entry point, by each way of resolution", () => {
  const options = [
    "--profile",
    "esm-only",
    "--exclude-entrypoints",
    "./randomx.wasm",
    "./block.wasm",
    "./monero.wasm",
    "./follow.wasm",
  ];
  run("@arethetypeswrong/cli/dist/index.js", [inject("tarball"), ...options], repositoryPath(""));
});

test("the README's examples pass the type checker", () => {
  const folder = freshProject("types");
  // An example imports it, and the project has the packed package alone.
  symlinkSync(
    repositoryPath("node_modules/monero-ts"),
    join(folder, "node_modules/monero-ts"),
    LINK,
  );
  const readme = readFileSync(join(folder, "node_modules/randomx-web/README.md"), "utf8");
  const examples = [...readme.matchAll(/```[jt]s\n(.*?)```/gsu)].map(([, code = ""]) => code);
  expect(examples.length).toBeGreaterThan(5);
  const files = examples.map((code, index) => {
    const lines = code.split("\n");
    const isImport = (line: string): boolean => line.startsWith("import ");
    const imports = lines.filter(isImport);
    const hasClass = imports.some((line) => /\bRandomX\b/u.test(line));
    const program = [
      ...(hasClass ? [] : ['import { RandomX } from "randomx-web";']),
      ...imports,
      'declare let saved: import("randomx-web").ChainCheckpoint | undefined;',
      `declare let ${GIVEN.map((name) => `${name}: any`).join(", ")}, randomx: RandomX;`,
      "declare const blobs: () => AsyncIterable<Uint8Array>;",
      'declare const hashing: typeof import("randomx-web/pool");',
      "export async function example() {",
      ...lines.filter((line) => !isImport(line)),
      "}",
    ];
    const name = `example-${index}.ts`;
    writeFileSync(join(folder, name), program.join("\n"));
    return name;
  });
  const options = ["--noEmit", "--strict", "--target", "es2022", "--lib", "es2022,dom"];
  const how = ["--moduleResolution", "bundler", "--module", "esnext", "--skipLibCheck"];
  run("typescript/bin/tsc", [...options, ...how, ...files], folder);
});

test.each([
  ["bundler", "esnext", "es2022,dom", "page.ts"],
  ["nodenext", "nodenext", "es2022,dom", "page.ts"],
  ["nodenext", "nodenext", "es2022,webworker", "page.ts"],
  ["nodenext", "nodenext", "es2023", "node.ts"],
])("a strict project with resolution %s, module %s and lib %s", (resolution, module, lib, own) => {
  const folder = freshProject("types");
  const options = ["--noEmit", "--strict", "--target", "es2022", "--lib", lib];
  const how = ["--moduleResolution", resolution, "--module", module];
  if (own === "node.ts") {
    symlinkSync(repositoryPath("node_modules/@types"), join(folder, "node_modules/@types"), LINK);
    how.push("--types", "node");
  }
  run("typescript/bin/tsc", [...options, ...how, "use.ts", own], folder);
});
