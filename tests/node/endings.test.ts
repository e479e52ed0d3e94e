/** Processes and threads that end while native code works, and Node's permissions. */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, describe as describeAll, expect, test } from "vitest";
import { ADDON, hasAddon } from "./support.js";

const describe = describeAll.runIf(hasAddon);
const folder = mkdtempSync(join(tmpdir(), "randomx-endings-"));
const run = promisify(execFile);
const known = "639183aae1bf4c9a35884cb46b09cad9175f04efd7684e7262a0ac1c2f0b4e3f";

const CONNECTION = new URL("../../wasm/dist/js/connection.js", import.meta.url).href;

/** The beginning of each program. */
const BEGIN = `
import { createRequire } from "node:module";
import { Worker, isMainThread, parentPort } from "node:worker_threads";
import { RandomX } from ${JSON.stringify(new URL("../../wasm/dist/js/index.js", import.meta.url).href)};
const nativeUrl = ${JSON.stringify(ADDON.href)};
const key = Buffer.from("test key 000");
const input = Buffer.from("This is a test");
const hex = (hash) => Buffer.from(hash).toString("hex");
const create = (options) => RandomX.create({ engine: "native", nativeUrl, threads: 1, ...options });
`;

afterAll(() => {
  rmSync(folder, { recursive: true });
});

let programs = 0;

/** Runs a program in a process of its own. Returns its exit code, its signal and its output. */
async function ending(
  program: string,
  options: string[] = [],
): Promise<{ code: unknown; signal: unknown; stdout: string; stderr: string }> {
  const file = join(folder, `${(programs += 1)}.mjs`);
  writeFileSync(file, BEGIN + program);
  try {
    return { code: 0, signal: null, ...(await run(process.execPath, [...options, file])) };
  } catch (error) {
    return error as Awaited<ReturnType<typeof ending>>;
  }
}

describe("a process may exit", () => {
  test.each([
    ["in a fill", "create().then((randomx) => randomx.prepare(key, { onProgress: exitAt(0.3) }));"],
    [
      "while a dataset is computed",
      'create({ mode: "fast" }).then((randomx) => randomx.prepare(key, { onProgress: exitAt(0.11) }));',
    ],
    [
      "while the next key is prepared behind hashes",
      `create({ slots: 2 }).then(async (randomx) => {
        await randomx.prepare(key);
        randomx.hashMany(key, Array(1000).fill(input));
        randomx.prepare("00", { onProgress: exitAt(0.3) });
      });`,
    ],
    [
      "while shares are hashed",
      `create().then(async (randomx) => {
        const share = { seed: key, blob: input, difficulty: 1 };
        const verdicts = randomx.verifyShares(Array(1000).fill(share));
        await verdicts[10];
        process.exit(7);
      });`,
    ],
  ])("%s", async (_, program) => {
    const exitAt = "const exitAt = (part) => ({ done }) => done >= part && process.exit(7);\n";
    expect(await ending(exitAt + program)).toMatchObject({ code: 7, signal: null, stderr: "" });
  });
});

test("a process waits for the end of a worker whose last answer it has not received", async () => {
  const worker = `
    import { pbkdf2Sync } from "node:crypto";
    import { parentPort } from "node:worker_threads";
    parentPort.on("message", ({ operation }) => {
      parentPort.postMessage({ type: "result", result: {} });
      // Native code cannot be ended in the middle.
      if (operation === "fill") pbkdf2Sync("", "", 1_000_000, 64, "sha512");
    });`;
  const address = `data:text/javascript,${encodeURIComponent(worker)}`;
  const program = `
    const { Connection } = await import(${JSON.stringify(CONNECTION)});
    const { connection, started } = Connection.open(${JSON.stringify(address)}, {}, () => {});
    await started;
    connection.request("fill", {}).catch(() => {});
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
    await connection.close("disposed", "");
    console.log("gone");
  `;
  expect(await ending(program)).toMatchObject({ code: 0, stdout: "gone\n", stderr: "" });
});

test("a program in text starts workers", async () => {
  const program = `
    const randomx = await RandomX.create({ threads: 1 });
    console.log(hex(await randomx.hash(key, input)));
    randomx.dispose();
  `;
  const { stdout } = await run(process.execPath, ["--input-type=module", "-e", BEGIN + program]);
  expect(stdout).toBe(`${known}\n`);
});

describe("a thread of the caller", () => {
  test("that is terminated in mid-hash takes its workers and caches along", async () => {
    const program = `
      if (!isMainThread) {
        const randomx = await create({ threads: 2, slots: 2 });
        const share = { seed: key, blob: input, difficulty: 1 };
        const verdicts = randomx.verifyShares(Array(1000).fill(share));
        await verdicts[20];
        randomx.prepare("00");
        parentPort.postMessage("hashing");
        await Promise.all(verdicts);
      } else {
        const addon = createRequire(import.meta.url)(${JSON.stringify(fileURLToPath(ADDON))});
        for (let round = 0; round < 3; round += 1) {
          const worker = new Worker(new URL(import.meta.url));
          await new Promise((resolve) => worker.once("message", resolve));
          console.log(addon.cacheCount() > 0);
          await worker.terminate();
        }
        while (addon.cacheCount() > 0) await new Promise((resolve) => setTimeout(resolve, 20));
        const randomx = await create();
        console.log(hex(await randomx.hash(key, input)));
      }
    `;
    expect(await ending(program)).toMatchObject({
      code: 0,
      stdout: `true\ntrue\ntrue\n${known}\n`,
      stderr: "",
    });
  });
});

describe("Node's permissions", () => {
  const [major = 0] = process.versions.node.split(".").map(Number);
  const flag = major >= 24 ? "--permission" : "--experimental-permission";
  const options = [flag, "--allow-fs-read=*", "--disable-warning=ExperimentalWarning"];
  const quiet = ["--disable-warning=SecurityWarning", ...options];
  const program = `
    try {
      const randomx = await create({ engine: "auto" });
      const { engine, notNative } = randomx.configuration;
      console.log(engine === "native", /addon|permission|access/iu.test(notNative ?? ""));
      console.log(hex(await randomx.hash(key, input)));
    } catch ({ name, code }) {
      console.log(name, code);
    }
  `;

  test("for add-ons and threads are enough for native code", async () => {
    const { stdout } = await ending(program, [...quiet, "--allow-worker", "--allow-addons"]);
    expect(stdout).toBe(`true false\n${known}\n`);
  });

  test("without add-ons leave the work to WebAssembly, with the reason", async () => {
    const { stdout } = await ending(program, [...quiet, "--allow-worker"]);
    expect(stdout).toBe(`false true\n${known}\n`);
  });

  test("without threads are a typed error", async () => {
    const { stdout } = await ending(program, quiet);
    expect(stdout).toBe("RandomXError worker-failed\n");
  });
});
