/** Loading the native add-on: the package of each system, and add-ons that are missing or do not fit. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, afterEach, describe as describeAll, expect, test } from "vitest";
import type * as product from "../../wasm/js/index.js";
import { PACKAGES, VERSION } from "../../wasm/js/native/addon.js";
import { ADDON_PACKAGES } from "../addon.js";
import { NATIVE, RandomX, hasAddon } from "./support.js";

const folder = mkdtempSync(join(tmpdir(), "randomx-addon-"));
const describe = describeAll.runIf(hasAddon);
const open: product.RandomX[] = [];

async function create(options: product.CreateOptions): Promise<product.RandomX> {
  const randomx = await RandomX.create({ ...NATIVE, ...options });
  open.push(randomx);
  return randomx;
}

afterEach(() => {
  for (const randomx of open.splice(0)) randomx.dispose();
});

afterAll(() => {
  rmSync(folder, { recursive: true });
});

test("the package knows the add-on of each system, and no other", () => {
  expect(ADDON_PACKAGES.map(({ version }) => version)).toEqual(ADDON_PACKAGES.map(() => VERSION));
  const systems = ADDON_PACKAGES.flatMap(({ os, cpu, name, folder: { pathname } }) => {
    const own = os.flatMap((system) => cpu.map((processor) => `${system}-${processor}`));
    // `cargo xtask` finds the folder by its name.
    expect(basename(pathname).startsWith(own[0] ?? "none")).toBe(true);
    return own.map((system) => [system, name]);
  });
  expect(PACKAGES).toEqual(Object.fromEntries(systems));
});

describe("an add-on", () => {
  test("whose package is not installed leaves the work to WebAssembly, and the reason says it", async () => {
    const randomx = await RandomX.create({ threads: 1, engine: "auto", nativeUrl: undefined });
    open.push(randomx);
    const { engine, notNative } = randomx.configuration;
    expect(["jit", "interpreter"]).toContain(engine);
    expect(notNative).toMatch(
      /^the package randomx-web-\S+ is not installed: the README of randomx-web /u,
    );
  });

  test("is not looked for where the caller wants WebAssembly", async () => {
    for (const options of [{ engine: "jit" }, { features: { wideArithmetic: false } }] as const) {
      const randomx = await RandomX.create({ threads: 1, engine: "auto", ...options });
      open.push(randomx);
      expect(randomx.configuration.notNative).toBeUndefined();
      expect(randomx.configuration.engine).not.toBe("native");
    }
  });

  test("is not loaded from another server", async () => {
    await expect(create({ nativeUrl: "https://a.invalid/randomx.node" })).rejects.toMatchObject({
      code: "unsupported",
      message: "engine: nativeUrl: expected a file: URL, got https://a.invalid/randomx.node",
    });
  });

  const files = {
    missing: { name: "missing.node" },
    broken: { name: "broken.node", content: "not an add-on" },
    other: { name: "other.cjs", content: "exports.hash = () => undefined;" },
    old: { name: "old.cjs", content: 'exports.version = () => "0.0.1";' },
  };
  test.each([
    ["missing", /^engine: .*missing\.node/u],
    ["broken", /^engine: .*broken\.node/u],
    ["other", /^engine: .*other\.cjs is not a native add-on of RandomX$/u],
    ["old", /^engine: .* is version 0\.0\.1: install version \d+\.\d+\.\d+ of both$/u],
  ] as const)("that is %s is refused when it is demanded", async (kind, message) => {
    const file: { name: string; content?: string } = files[kind];
    const path = join(folder, file.name);
    if (file.content !== undefined) writeFileSync(path, file.content);
    const creating = create({ nativeUrl: pathToFileURL(path) });
    await expect(creating).rejects.toMatchObject({
      code: "unsupported",
      message: expect.stringMatching(message) as string,
    });
    expect(
      await RandomX.create({ threads: 1, engine: "auto", nativeUrl: pathToFileURL(path) }),
    ).toSatisfy((randomx: product.RandomX) => {
      open.push(randomx);
      return randomx.configuration.engine !== "native";
    });
  });
});
