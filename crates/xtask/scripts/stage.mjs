/**
 * Writes the npm package into the folder that the argument names. Earlier content of the folder is removed. With
 * `--registered` the manifest lists the native add-ons as optional dependencies. Without it it does not: until their
 * names are registered on npm, npm would install whatever somebody else registers under them.
 */
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { makeReadable } from "./archive.mjs";

const source = fileURLToPath(new URL("../../../wasm/", import.meta.url));
const addons = fileURLToPath(new URL("../../node/npm/", import.meta.url));
const [, , folder, registered] = process.argv;

function readManifest(parent) {
  return JSON.parse(readFileSync(join(parent, "package.json"), "utf8"));
}

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
for (const name of ["dist", "LICENSE", "README.md"]) {
  cpSync(join(source, name), join(folder, name), { recursive: true });
}

// The scripts build the package, and the published one is already built.
const manifest = readManifest(source);
delete manifest.scripts;
if (registered === "--registered") {
  const listed = readdirSync(addons)
    .sort()
    .map((name) => readManifest(join(addons, name)))
    .map(({ name, version }) => [name, version]);
  manifest.optionalDependencies = Object.fromEntries(listed);
}
writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, undefined, 2)}\n`);
makeReadable(folder);
