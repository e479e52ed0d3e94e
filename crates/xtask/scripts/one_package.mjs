/**
 * Writes a manifest and a lock file for one package of `package-lock.json` into a folder. From these npm installs that
 * package alone, for any system, and checks its hash. Arguments: the folder and the package; to take another version,
 * that version and its hash.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [folder, name, version, integrity] = process.argv.slice(2);
const path = `node_modules/${name}`;
const list = new URL("../../../package-lock.json", import.meta.url);
const { lockfileVersion, packages } = JSON.parse(readFileSync(list, "utf8"));
const entry = version === undefined ? packages[path] : { ...packages[path], version, integrity };
// npm takes the options `os` and `cpu` only for optional packages.
const manifest = { optionalDependencies: { [name]: entry.version } };
const lock = { lockfileVersion, packages: { "": manifest, [path]: entry } };

const write = (file, content) => writeFileSync(join(folder, file), JSON.stringify(content));
write("package.json", manifest);
write("package-lock.json", lock);
