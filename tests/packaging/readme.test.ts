/** Examples of the package's README, run in Node.js as they stand but for the addresses. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";
import { chainOf, extended } from "../node/chain/blocks.js";
import { SimulatedSource } from "../node/chain/source.js";
import { freshProject } from "./project.js";

/** Returns the first example of the README that has some words. */
function example(folder: string, words: string): string {
  const readme = readFileSync(join(folder, "node_modules/randomx-web/README.md"), "utf8");
  const examples = [...readme.matchAll(/```[jt]s\n(.*?)```/gsu)].map(([, code = ""]) => code);
  const found = examples.find((code) => code.includes(words));
  if (found === undefined) throw new Error(`the README has no example with ${words}`);
  return found;
}

/** Replaces a text that a program must have. */
function replaced(program: string, text: string, other: string): string {
  if (!program.includes(text)) throw new Error(`the example lacks ${text}`);
  return program.replace(text, other);
}

/** Runs a program until the test ends, and returns its lines. */
function linesOf(folder: string, program: string): AsyncIterator<string> {
  writeFileSync(join(folder, "readme.js"), program);
  const child = spawn(process.execPath, ["readme.js"], {
    ...{ cwd: folder, stdio: ["ignore", "pipe", "inherit"] },
  });
  onTestFinished(async () => {
    const ended = child.exitCode === null && once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  });
  return createInterface({ input: child.stdout })[Symbol.asyncIterator]();
}

test("a block is verified", async () => {
  const folder = freshProject("runtime");
  const lines = linesOf(folder, example(folder, "verifyBlock"));
  expect(await lines.next()).toMatchObject({ value: "true" });
  // The process ends by itself.
  expect(await lines.next()).toMatchObject({ done: true });
});

test("a share is verified, and a malformed one is caught", async () => {
  const folder = freshProject("runtime");
  let program = example(folder, "verifyShares");
  program = replaced(program, 'case "valid":', 'case "valid": console.log("valid"); break;');
  program = replaced(program, "(error) {", "(error) {\n  console.log(error.code);");
  const lines = linesOf(
    folder,
    `import { RandomX } from "randomx-web";
    import { block } from "./block.js";
    const { seedHash, hashingBlob: blob, hash: result } = block;
    const target = "ff".repeat(32);
    for (const nonce of [blob.slice(78, 86), "zz"]) {
      ${program}
    }`,
  );
  expect(await lines.next()).toMatchObject({ value: "valid" });
  expect(await lines.next()).toMatchObject({ value: "invalid-argument" });
});

test("a chain is followed", async () => {
  const folder = freshProject("runtime");
  const common = chainOf(4);
  const sources = await Promise.all([3, 1].map((more) => start(extended(common, more))));
  let program = example(folder, "randomx.follow(sources");
  for (const [index, name] of ["a", "b"].entries()) {
    program = replaced(program, `https://node-${name}.example:18089`, sources[index]?.url ?? "");
  }
  program = replaced(program, "import { IndexedDBStore,", "import { MemoryStore,");
  const options = 'store: new MemoryStore(), network: "regtest", poll: 1';
  program = replaced(program, "store: new IndexedDBStore()", options);
  const lines = linesOf(folder, program);
  expect(await until(lines, `block 7 ${sources[0]?.tip.id ?? ""}`)).toBeDefined();
  for (const source of sources) source.chain = extended(common, 5, { nonce: 1 });
  expect(await until(lines, "reverted")).toBeDefined();
});

async function start(chain: ReturnType<typeof chainOf>): Promise<SimulatedSource> {
  const source = await SimulatedSource.start(chain);
  onTestFinished(() => source.stop());
  return source;
}

/** Returns the first line that begins with some words. */
async function until(lines: AsyncIterator<string>, words: string): Promise<string | undefined> {
  for (;;) {
    const line = await lines.next();
    if (line.done) return undefined;
    if (line.value.startsWith(words)) return line.value;
  }
}
