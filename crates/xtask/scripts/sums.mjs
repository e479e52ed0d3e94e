/** Lists of SHA-256 hashes, as `sha256sum --check` reads them. */
import { createHash } from "node:crypto";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The name of a list. */
export const SUMS = "SHA256SUMS";

/** Writes the list of some files into their folder. A run that is stopped leaves no part of a list under its name. */
export function writeSums(folder, files) {
  const lines = files.map((file) => `${sha256(join(folder, file))}  ${file}\n`);
  const list = join(folder, SUMS);
  writeFileSync(`${list}.new`, lines.join(""));
  renameSync(`${list}.new`, list);
}

/** Fails unless a folder's list names exactly these files, with the hashes that they have. */
export function checkSums(folder, files) {
  const lines = readFileSync(join(folder, SUMS), "utf8").trimEnd().split("\n");
  const listed = lines.map((line) => line.slice(line.indexOf("  ") + 2));
  if ([...listed].sort().join() !== [...files].sort().join()) {
    throw new Error(`${SUMS}: expected ${files.join(", ")}, got ${listed.join(", ")}`);
  }
  for (const [at, file] of listed.entries()) {
    if (lines[at] !== `${sha256(join(folder, file))}  ${file}`) {
      throw new Error(`${SUMS}: ${file} has another hash`);
    }
  }
}

function sha256(file) {
  return createHash("sha256").update(readFileSync(file)).digest("hex");
}
