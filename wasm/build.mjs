/**
 * Builds the published files into `dist`: the compiled TypeScript, and wasm-pack's output in the same
 * relative folders as in the sources, so that both find the WebAssembly at one path. The package files
 * that wasm-pack writes are left out.
 *
 * Beside them it writes what others need to check the files: their hashes, a bill of materials, and the
 * licences of the crates inside.
 */
import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import ts from "typescript";
import { linkedCrates } from "../crates/xtask/scripts/crates.mjs";
import { notices } from "../crates/xtask/scripts/notices.mjs";
import { sbom } from "../crates/xtask/scripts/sbom.mjs";

const here = new URL("./", import.meta.url);

/** The folder of the published files. It is replaced whole, and only if a file differs. */
const published = new URL("dist/", here);

/** Where this run writes them. */
const dist = new URL(`dist-${process.pid}/`, here);

/** The folders of the modules: hashing, Monero's rules for blocks and for chains, and the light client. */
const PACKAGES = ["pkg/", "block/pkg/", "monero/pkg/", "follow/pkg/"];

/** The crates that are compiled into the modules. */
const CRATES = ["randomx-wasm", "randomx-monero-wasm"];

/** Modules, scripts and their types. */
const SHIPPED = /\.(?:js|wasm|d\.ts)$/u;

requireModules();
try {
  compile();
  for (const folder of PACKAGES) copy(folder);
  describe();
  addHashes();
  if (!isPublished()) publish();
} finally {
  rmSync(dist, { recursive: true, force: true });
}

function requireModules() {
  if (PACKAGES.every((folder) => existsSync(new URL(`${folder}build.json`, here)))) return;
  console.error("randomx-web: its modules are not built: run `cargo xtask build-package`");
  process.exit(1);
}

function compile() {
  const config = ts.getParsedCommandLineOfConfigFile(
    fileURLToPath(new URL("tsconfig.json", here)),
    { outDir: fileURLToPath(new URL("js/", dist)) },
    { ...ts.sys, onUnRecoverableConfigFileDiagnostic: report },
  );
  const program = ts.createProgram({ rootNames: config.fileNames, options: config.options });
  const { diagnostics } = program.emit();
  const found = [...config.errors, ...ts.getPreEmitDiagnostics(program), ...diagnostics];
  found.forEach(report);
  if (found.length > 0) throw new Error("the package has errors; `dist` stays as it was");
}

function report(diagnostic) {
  const host = {
    getCanonicalFileName: (name) => name,
    getCurrentDirectory: ts.sys.getCurrentDirectory,
    getNewLine: () => "\n",
  };
  console.error(ts.formatDiagnostic(diagnostic, host));
}

function copy(folder) {
  const source = new URL(folder, here);
  const target = new URL(folder, dist);
  mkdirSync(target, { recursive: true });
  for (const name of readdirSync(source)) {
    if (SHIPPED.test(name)) cpSync(new URL(name, source), new URL(name, target));
  }
}

/** Writes the bill of materials and the licences. */
function describe() {
  const { name, version, license } = JSON.parse(
    readFileSync(new URL("package.json", here), "utf8"),
  );
  const crates = linkedCrates(CRATES, "wasm32-unknown-unknown");
  const tools = [...wasmTools(), { name: "typescript", version: ts.version }];
  const purl = `pkg:npm/${name}@${version}`;
  const bom = sbom({ type: "library", name, version, license, purl, tools, crates });
  writeFileSync(new URL("sbom.cdx.json", dist), bom);
  writeFileSync(new URL("NOTICES.txt", dist), notices(name, crates));
}

/** The programs that built the modules. `cargo xtask build-wasm` writes their versions beside each module. */
function wasmTools() {
  const lists = PACKAGES.map((folder) =>
    readFileSync(new URL(`${folder}build.json`, here), "utf8"),
  );
  if (new Set(lists).size > 1)
    throw new Error("other programs built one module: run `cargo xtask build-wasm`");
  return JSON.parse(lists[0]);
}

/**
 * Writes `integrity.json`, whose values a page puts into `integrity` attributes and import maps, and
 * `SHA256SUMS` of all other files, which `sha256sum --check` reads.
 */
function addHashes() {
  const digest = (file, algorithm, encoding) =>
    createHash(algorithm)
      .update(readFileSync(new URL(file, dist)))
      .digest(encoding);
  const loaded = filesIn(dist).filter((file) => /\.(?:js|wasm)$/u.test(file));
  const integrity = loaded.map((file) => [file, `sha384-${digest(file, "sha384", "base64")}`]);
  const json = JSON.stringify(Object.fromEntries(integrity), undefined, 2);
  writeFileSync(new URL("integrity.json", dist), `${json}\n`);
  const sums = filesIn(dist).map((file) => `${digest(file, "sha256", "hex")}  ${file}\n`);
  writeFileSync(new URL("SHA256SUMS", dist), sums.join(""));
}

/** The sorted paths of all files in a folder, relative to it. */
function filesIn(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) =>
      new URL(entry.name, pathToFileURL(`${entry.parentPath}/`)).href.slice(folder.href.length),
    )
    .sort();
}

/** Whether the published files are those of this run, byte for byte. */
function isPublished() {
  if (!existsSync(published)) return false;
  const files = filesIn(dist);
  return (
    filesIn(published).join() === files.join() &&
    files.every((file) =>
      readFileSync(new URL(file, dist)).equals(readFileSync(new URL(file, published))),
    )
  );
}

/** Replaces the published files by those of this run. */
function publish() {
  const old = new URL(`dist-${process.pid}-old/`, here);
  if (existsSync(published)) renameSync(published, old);
  renameSync(dist, published);
  rmSync(old, { recursive: true, force: true });
}
