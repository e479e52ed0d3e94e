/** Node, the oldest and the newest, Deno and Bun: nothing is configured, and the process ends. */
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { block, freshProject, repositoryPath, type Told } from "./project.js";

const bin = (name: string): string => repositoryPath(`node_modules/${name}`);

/** Commands that run a script. */
const RUNTIMES = [
  { name: `Node ${process.version}`, command: [process.execPath] },
  { name: "current Node", command: [bin("node/bin/node")] },
  // Nothing of the network, and no writing.
  { name: "Deno", command: [bin("deno/deno"), "run", "--no-prompt", "--allow-read"] },
  { name: "Bun", command: [bin("bun/bin/bun.exe"), "run"] },
] as const;

async function run(
  [program, ...options]: readonly [string, ...string[]],
  folder: string,
  script: readonly string[],
): Promise<unknown> {
  // A process that does not end is killed, and that is an error.
  const settings = { cwd: folder, timeout: 100_000 };
  const { stdout } = await promisify(execFile)(program, [...options, ...script], settings);
  return JSON.parse(stdout);
}

describe.each(RUNTIMES)("$name", ({ command }) => {
  test("verifies a block, and its process ends", async () => {
    const told = (await run(command, freshProject("runtime"), ["verify.js"])) as Told;
    expect(told).toEqual({ valid: true, hash: block.hash, threads: 2 });
  });

  test("waits until workers are gone", async () => {
    expect(await run(command, freshProject("runtime"), ["disposing.js"])).toBe("disposed");
  });

  test("hashes without workers and promises", async () => {
    expect(await run(command, freshProject("runtime"), ["blocking.js"])).toBe(block.hash);
  });
});

test("memory that is released is collected", async () => {
  const most = await run([process.execPath], freshProject("runtime"), ["memory.js"]);
  // All six would be more than 1,536 MiB.
  expect(most).toBeLessThan(1100);
});

test("what the README shows first is a program that runs", async () => {
  const folder = freshProject("runtime");
  const readme = readFileSync(join(folder, "node_modules/randomx-web/README.md"), "utf8");
  const [, program = ""] = /```js\n(.*?)```/su.exec(readme) ?? [];
  writeFileSync(join(folder, "readme.js"), program);
  expect(await run([process.execPath], folder, ["readme.js"])).toBe(true);
});

// Another RandomX in WebAssembly is known to stop or to hash wrongly there.
describe("Bun", () => {
  test.each(["jit", "interpreter"])("hashes all vectors, %s", async (engine) => {
    const vectors = repositoryPath("tests/vectors/reference-hashes.json");
    const bun = [bin("bun/bin/bun.exe"), "run"] as const;
    const told = await run(bun, freshProject("runtime"), ["vectors.js", vectors, engine]);
    expect(told).toEqual({ checked: 80, wrong: 0 });
  });
});
