/** The functions that V8 optimises during a fill, as V8 itself reports them. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { eventually } from "./support.js";

/** Returns the text of an address or a path for a program. */
function quoted(path: string, as: (url: URL) => string): string {
  return JSON.stringify(as(new URL(`../../wasm/dist/${path}`, import.meta.url)));
}

const address = ({ href }: URL): string => href;

/** Fills a cache, computes nothing with it, and waits for the end of the input: V8 optimises in the background. */
const fill = `
  import { readFileSync } from "node:fs";
  import * as wasm from ${quoted("pkg/randomx_wasm.js", address)};
  import { Session } from ${quoted("js/session.js", address)};
  wasm.initSync({ module: readFileSync(${quoted("pkg/randomx_wasm_bg.wasm", fileURLToPath)}) });
  const setting = { lanes: 1, features: wasm.detectFeatures(), place: 1 };
  const session = new Session(wasm, setting, () => new Promise(setImmediate));
  session.allocate({ slot: 0, shared: false });
  const control = { signal: new AbortController().signal, onProgress: () => undefined };
  await session.fill({ slot: 0, key: new Uint8Array(1), memory: undefined }, control);
  process.stdin.resume();
`;

/** A function of SuperscalarHash: one of a module's first eight, with several thousand bytes. */
const SUPERSCALAR = /#([0-7]) using TurboFan, .* bodysize [4-9]\d{3} /gu;

test("a fill lets V8 optimise all that computes items, before the first hash needs it", async () => {
  const args = ["--trace-wasm-compilation-times", "--input-type=module", "--eval", fill];
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
  let report = "";
  child.stdout.setEncoding("utf8").on("data", (part: string) => (report += part));
  const expectAll = (): void => {
    const optimised = [...report.matchAll(SUPERSCALAR)].map(([, number]) => number);
    expect(optimised.sort()).toEqual(["0", "1", "2", "3", "4", "5", "6", "7"]);
  };
  try {
    await eventually(expectAll);
    child.stdin.end();
    expect(await once(child, "close")).toEqual([0, null]);
    expectAll();
  } finally {
    child.kill();
  }
});
