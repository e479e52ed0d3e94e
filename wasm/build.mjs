/**
 * Builds the published files into `dist`: the compiled TypeScript, and wasm-pack's output in the same
 * relative folders as in the sources, so that both find the WebAssembly at one path. The package files
 * that wasm-pack writes are left out.
 */
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const here = new URL("./", import.meta.url);
const dist = new URL("dist/", here);

/** The output folders of the crates. The second has Monero's rules. */
const PACKAGES = ["pkg/", "monero/pkg/"];

/** Modules, scripts and their types. */
const SHIPPED = /\.(?:js|wasm|d\.ts)$/u;

rmSync(dist, { recursive: true, force: true });
compile();
for (const folder of PACKAGES) copy(folder);

function compile() {
  const config = ts.getParsedCommandLineOfConfigFile(
    fileURLToPath(new URL("tsconfig.json", here)),
    {},
    { ...ts.sys, onUnRecoverableConfigFileDiagnostic: report },
  );
  const program = ts.createProgram({ rootNames: config.fileNames, options: config.options });
  const { diagnostics } = program.emit();
  [...config.errors, ...ts.getPreEmitDiagnostics(program), ...diagnostics].forEach(report);
}

function report(diagnostic) {
  const host = {
    getCanonicalFileName: (name) => name,
    getCurrentDirectory: ts.sys.getCurrentDirectory,
    getNewLine: () => "\n",
  };
  console.error(ts.formatDiagnostic(diagnostic, host));
  process.exitCode = 1;
}

function copy(folder) {
  const source = new URL(folder, here);
  if (!existsSync(source)) return;
  const target = new URL(folder, dist);
  mkdirSync(target, { recursive: true });
  for (const name of readdirSync(source)) {
    if (SHIPPED.test(name)) cpSync(new URL(name, source), new URL(name, target));
  }
}
