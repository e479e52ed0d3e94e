/** Builds the package as it is published, so that Node can start its worker. */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

/** Runs once, before all tests. */
export default function build(): void {
  const script = fileURLToPath(new URL("../../wasm/build.mjs", import.meta.url));
  execFileSync(process.execPath, [script], { stdio: "inherit" });
}
