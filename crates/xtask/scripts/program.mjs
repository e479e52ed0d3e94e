/** Packs the program `randomx` with its documents. Arguments: the program, its target, the output folder. */
import { createHash } from "node:crypto";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { execFileSync } from "node:child_process";
import { create } from "tar";
import { linkedCrates, workspaceVersion } from "./crates.mjs";
import { notices } from "./notices.mjs";
import { sbom } from "./sbom.mjs";

const [program, target, output] = process.argv.slice(2);
const root = fileURLToPath(new URL("../../..", import.meta.url));
const version = workspaceVersion();
const name = `randomx-${version}-${target}`;

const work = mkdtempSync(join(tmpdir(), "randomx-release-"));
const folder = join(work, name);
mkdirSync(folder);

const crates = linkedCrates(["randomx-cli"], target);
const [, compiler] = execFileSync("rustc", ["--version"], { encoding: "utf8" })
  .trim()
  .split("rustc ");
copyFileSync(program, join(folder, basename(program)));
chmodSync(join(folder, basename(program)), 0o755);
copyFileSync(join(root, "LICENSE"), join(folder, "LICENSE"));
copyFileSync(join(root, "crates/cli/README.md"), join(folder, "README.md"));
writeFileSync(join(folder, "NOTICES.txt"), notices("The program randomx", crates));
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

const files = [basename(program), "LICENSE", "NOTICES.txt", "README.md", "sbom.cdx.json"];
const sha256 = (file) => createHash("sha256").update(readFileSync(file)).digest("hex");
const sums = files.map((file) => `${sha256(join(folder, file))}  ${file}\n`);
writeFileSync(join(folder, "SHA256SUMS"), sums.join(""));

// With fixed owners and times, the same files make the same archive.
const mtime = new Date(Number(process.env.SOURCE_DATE_EPOCH ?? 0) * 1000);
const options = { cwd: work, gzip: { level: 9 }, portable: true, noPax: true, mtime };
const paths = [...files, "SHA256SUMS"].map((file) => `${name}/${file}`);
await create({ ...options, file: join(output, `${name}.tar.gz`) }, paths);
rmSync(work, { recursive: true });
