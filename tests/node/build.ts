/** Compiles the package as it is shipped, file by file, so that Node can start its worker. */
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import ts from "typescript";

const source = new URL("../../wasm/js/", import.meta.url);
const target = new URL("../../wasm/dist/", import.meta.url);

/** Runs once, before all tests. */
export default function build(): void {
  mkdirSync(target, { recursive: true });
  for (const name of readdirSync(source)) {
    const { outputText } = ts.transpileModule(readFileSync(new URL(name, source), "utf8"), {
      compilerOptions: {
        target: ts.ScriptTarget.ES2022,
        module: ts.ModuleKind.ESNext,
        verbatimModuleSyntax: true,
      },
    });
    writeFileSync(new URL(name.replace(/\.ts$/u, ".js"), target), outputText);
  }
}
