/** Two versions of Node.js, Deno and Bun. Nothing is configured, and the process ends by itself. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, inject, test as quickTest } from "vitest";
import { addonPackage } from "../addon.js";
import { latestNode } from "../programs.js";
import { block, freshProject, fullTest, repositoryPath, type Verification } from "./project.js";

const bin = (name: string): string => repositoryPath(`node_modules/${name}`);
const CURRENT_NODE = latestNode();

/** Commands that run a script; the quick tier uses the first. */
const RUNTIMES = [
  { name: `Node ${process.version}`, command: [process.execPath] },
  { name: "current Node", command: [CURRENT_NODE] },
  // No network access, no write access.
  { name: "Deno", command: [bin("deno/deno"), "run", "--no-prompt", "--allow-read"] },
  { name: "Bun", command: [bin("bun/bin/bun.exe"), "run"] },
] as const;

async function run(
  [program, ...options]: readonly [string, ...string[]],
  folder: string,
  script: readonly string[],
  variables: Record<string, string> = {},
): Promise<unknown> {
  // A process that does not end is killed, which fails the test.
  const settings = { cwd: folder, timeout: 100_000, env: { ...process.env, ...variables } };
  const { stdout } = await promisify(execFile)(program, [...options, ...script], settings);
  return JSON.parse(stdout);
}

describe.each(RUNTIMES)("$name", ({ command }) => {
  const test = command[0] === process.execPath ? quickTest : fullTest;

  test("verifies a block, and its process ends", async () => {
    const result = (await run(command, freshProject("runtime"), ["verify.js"])) as Verification;
    expect(result).toEqual({ valid: true, hash: block.hash, threads: 2 });
  });

  test("waits until workers have ended", async () => {
    expect(await run(command, freshProject("runtime"), ["disposing.js"])).toBe("disposed");
  });

  test("hashes without workers and promises", async () => {
    expect(await run(command, freshProject("runtime"), ["blocking.js"])).toBe(block.hash);
  });
});

/** Commands that allow a script to load native code. */
const ALLOWED = [
  { name: `Node ${process.version}`, command: [process.execPath] },
  {
    name: "current Node with permissions",
    command: [
      CURRENT_NODE,
      ...["--permission", "--allow-fs-read=*", "--allow-worker", "--allow-addons"],
    ],
  },
  {
    name: "Deno",
    command: [bin("deno/deno"), "run", "--no-prompt", "--allow-read", "--allow-ffi"],
  },
  { name: "Bun", command: [bin("bun/bin/bun.exe"), "run"] },
] as const;

describe.each(ALLOWED)("$name, with the native add-on", ({ command }) => {
  const addon = inject("addon");
  const wanted = command[0] === process.execPath ? quickTest : fullTest;
  const test = addon === undefined ? quickTest.skip : wanted;

  test("hashes all vectors with it", async () => {
    const vectors = repositoryPath("tests/vectors/reference-hashes.json");
    const folder = freshProject("runtime", addon ?? "");
    const result = await run(command, folder, ["vectors.js", vectors, "auto"]);
    expect(result).toEqual({ checked: 80, wrong: 0, engine: "native" });
  });

  // For Node, tests of the package's sources check this in the quick tier.
  const full = addon === undefined ? quickTest.skip : fullTest;
  full("frees the memory of a disposed instance", async () => {
    const folder = freshProject("runtime", addon ?? "");
    // The process is killed if a cache or a dataset stays.
    const held = await run(command, folder, ["freeing.js", addonPackage?.name ?? ""]);
    expect(held).toEqual([1, 1]);
  });
});

fullTest("in Deno, the package uses only the permissions that the README names", async () => {
  const addon = inject("addon");
  const others = addon === undefined ? [] : [addon];
  const folder = freshProject("runtime", ...others);
  const file = join(folder, "permissions");
  const command = [bin("deno/deno"), "run", "--no-prompt", "--allow-read"] as const;
  await run(command, folder, ["verify.js"], { DENO_AUDIT_PERMISSIONS: file });
  const uses = readFileSync(file, "utf8").trim().split("\n");
  const names = uses.map((line) => (JSON.parse(line) as { permission: string }).permission);
  // Deno records "write" for files that are only read.
  expect(new Set(names)).toEqual(new Set(["read", "write", ...others.map(() => "ffi")]));
});

fullTest("released memory is garbage collected", async () => {
  const most = await run([process.execPath], freshProject("runtime"), ["memory.js"]);
  // All six caches are more than 1,536 MiB.
  expect(most).toBeLessThan(1100);
});

// Another RandomX in WebAssembly hangs or hashes wrongly in Bun.
describe("Bun", () => {
  fullTest.each(["jit", "interpreter"])("hashes all vectors, %s", async (engine) => {
    const vectors = repositoryPath("tests/vectors/reference-hashes.json");
    const bun = [bin("bun/bin/bun.exe"), "run"] as const;
    const result = await run(bun, freshProject("runtime"), ["vectors.js", vectors, engine]);
    expect(result).toEqual({ checked: 80, wrong: 0, engine });
  });
});
