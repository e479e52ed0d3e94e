/**
 * Unpacks an archive of programs or of an add-on, and checks the hashes of its files.
 * Arguments: the archive, the output folder.
 * Prints the name of the folder inside.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { unpack } from "./archive.mjs";
import { SUMS, checkSums } from "./sums.mjs";

/** The files without a hash: the list itself, and the manifest of an npm package. */
const UNLISTED = [SUMS, "package.json"];

const [archive, output] = process.argv.slice(2);
unpack(archive, output);
const [name, ...others] = readdirSync(output);
if (others.length > 0) throw new Error(`${archive}: expected one folder, got ${others.length + 1}`);
const folder = join(output, name);
checkSums(
  folder,
  readdirSync(folder).filter((file) => !UNLISTED.includes(file)),
);
console.log(name);
