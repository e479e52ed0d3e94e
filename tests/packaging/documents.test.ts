/** The package's documents about its own files: hashes, licences, and a bill of materials. */
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { Spec, Validation } from "@cyclonedx/cyclonedx-library";
import { extract } from "tar";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { ADDON_PACKAGES } from "../addon.js";
import { run } from "./pack.js";

const folder = mkdtempSync(join(tmpdir(), "randomx-web-documents-"));
const dist = join(folder, "package/dist");

beforeAll(() => {
  extract({ file: inject("tarball"), cwd: folder, sync: true });
});

afterAll(() => {
  rmSync(folder, { recursive: true });
});

const read = (name: string): string => readFileSync(join(dist, name), "utf8");

function digest(name: string, algorithm: string, encoding: "base64" | "hex"): string {
  return createHash(algorithm)
    .update(readFileSync(join(dist, name)))
    .digest(encoding);
}

/** The paths of all files in `dist`, with slashes. */
function files(): string[] {
  const entries = readdirSync(dist, { recursive: true, withFileTypes: true });
  const found = entries.filter((entry) => entry.isFile());
  const paths = found.map(({ parentPath, name }) => relative(dist, join(parentPath, name)));
  return paths.map((path) => path.replaceAll(sep, "/")).sort();
}

test("a package depends on the add-ons only if their names are registered", () => {
  const manifest = (path: string): unknown => JSON.parse(readFileSync(path, "utf8"));
  const own = manifest(fileURLToPath(new URL("../../wasm/package.json", import.meta.url)));
  expect(own).not.toHaveProperty("optionalDependencies");
  const packed = manifest(join(folder, "package/package.json"));
  expect(packed).toEqual({ ...(own as object), scripts: undefined });
  const registered = join(folder, "registered");
  run("crates/xtask/scripts/stage.mjs", registered, "--registered");
  const addons = ADDON_PACKAGES.map(({ name, version }) => [name, version] as const);
  const optionalDependencies = Object.fromEntries(addons);
  const published = manifest(join(registered, "package.json"));
  expect(published).toEqual({ ...(packed as object), optionalDependencies });
});

test("SHA256SUMS lists every other file, with its hash", () => {
  const sums = Object.fromEntries(
    read("SHA256SUMS")
      .trimEnd()
      .split("\n")
      .map((line) => line.split("  ").reverse() as [string, string]),
  );
  const listed = files().filter((name) => name !== "SHA256SUMS");
  expect(Object.keys(sums)).toEqual(listed);
  for (const name of listed) expect(sums[name], name).toBe(digest(name, "sha256", "hex"));
});

test("the configuration has the hashes of the modules", async () => {
  const { modules } = (await import(join(dist, "js/modules.js"))) as { modules: unknown };
  expect(modules).toEqual({
    randomx: digest("pkg/randomx_wasm_bg.wasm", "sha256", "hex"),
    block: digest("block/pkg/randomx_block_wasm_bg.wasm", "sha256", "hex"),
    monero: digest("monero/pkg/randomx_monero_wasm_bg.wasm", "sha256", "hex"),
    follow: digest("follow/pkg/randomx_follow_wasm_bg.wasm", "sha256", "hex"),
  });
});

test("integrity.json has a value for every script and module", () => {
  const integrity = JSON.parse(read("integrity.json")) as Record<string, string>;
  expect(Object.keys(integrity)).toEqual(files().filter((name) => /\.(?:js|wasm)$/u.test(name)));
  for (const [name, value] of Object.entries(integrity)) {
    expect(value, name).toBe(`sha384-${digest(name, "sha384", "base64")}`);
  }
});

test("the bill of materials follows the schema, and the licences name every crate in it", async () => {
  const text = read("sbom.cdx.json");
  expect(await new Validation.JsonStrictValidator(Spec.Version.v1dot6).validate(text)).toBeNull();
  const { components } = JSON.parse(text) as { components: { name: string; version: string }[] };
  const names = components.map(({ name }) => name);
  expect(names).toEqual(
    expect.arrayContaining(["randomx-core", "bytemuck", "ruint", "tiny-keccak"]),
  );
  const { metadata } = JSON.parse(text) as { metadata: { tools: { components: unknown[] } } };
  expect(metadata.tools.components).toContainEqual(expect.objectContaining({ name: "rustc" }));
  // Procedural macros and build scripts run on the builder's machine only.
  expect(names).not.toContain("syn");
  const notices = read("NOTICES.txt");
  for (const { name, version } of components) {
    if (!name.startsWith("randomx-")) expect(notices).toContain(`${name} ${version}: `);
  }
});
