/**
 * Packs the program `randomx` and the programs of its other commands, with their documents. Arguments: the target,
 * the compiler's version, the output folder, the programs. Prints the archive's name.
 */
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { pack } from "./archive.mjs";
import { linkedCrates, workspaceVersion } from "./crates.mjs";
import { notices } from "./notices.mjs";
import { sbom } from "./sbom.mjs";
import { SUMS, writeSums } from "./sums.mjs";

const [target, compiler, output, ...built] = process.argv.slice(2);
const root = fileURLToPath(new URL("../../..", import.meta.url));
const version = workspaceVersion();
const name = `randomx-${version}-${target}`;

const parent = mkdtempSync(join(tmpdir(), "randomx-release-"));
const folder = join(parent, name);
mkdirSync(folder);

const programs = built.map((program) => basename(program));
for (const program of built) copyFileSync(program, join(folder, basename(program)));
copyFileSync(join(root, "LICENSE"), join(folder, "LICENSE"));
copyFileSync(join(root, "crates/cli/README.md"), join(folder, "README.md"));
// Links lead to files of the repository, which the archive lacks.
const audit = readFileSync(join(root, "crates/audit/README.md"), "utf8");
writeFileSync(join(folder, "README-audit.md"), audit.replace(/\[([^\]]+)\]\([^)]+\)/gu, "$1"));
const crates = linkedCrates(["randomx-cli", "randomx-audit"], target);
writeFileSync(join(folder, "NOTICES.txt"), notices("This archive", crates));
const bom = sbom({
  type: "application",
  name: "randomx",
  version,
  license: "BSD-3-Clause",
  purl: `pkg:cargo/randomx-cli@${version}`,
  tools: [{ name: "rustc", version: compiler }],
  crates,
});
writeFileSync(join(folder, "sbom.cdx.json"), bom);

const documents = ["LICENSE", "NOTICES.txt", "README-audit.md", "README.md", "sbom.cdx.json"];
const files = [...programs, ...documents];
writeSums(folder, files);
const isZip = target.includes("-windows-");
console.log(await pack({ parent, name, files: [...files, SUMS], programs, isZip, output }));
rmSync(parent, { recursive: true });
