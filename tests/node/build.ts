/** Compiles the package as it is shipped, file by file, so that Node can start its worker. */
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import ts from "typescript";

const source = new URL("../../wasm/js/", import.meta.url);
const target = new URL("../../wasm/dist/", import.meta.url);

/** Runs once, before all tests. */
export default function build(): void {
  for (const name of readdirSync(source, { encoding: "utf8", recursive: true })) {
    if (!name.endsWith(".ts")) continue;
    const { outputText } = ts.transpileModule(readFileSync(new URL(name, source), "utf8"), {
      compilerOptions: {
        target: ts.ScriptTarget.ES2022,
        module: ts.ModuleKind.ESNext,
        verbatimModuleSyntax: true,
      },
    });
    const compiled = new URL(name.replace(/\.ts$/u, ".js"), target);
    mkdirSync(new URL(".", compiled), { recursive: true });
    writeFileSync(compiled, outputText);
  }
}
