/** Builds the package as it is published, so that Node can start its worker. */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

/** Runs once, before all tests. `cargo xtask test` builds the package once for several runs. */
export default function build(): void {
  if (process.env.RANDOMX_PACKAGE === "built") return;
  const script = fileURLToPath(new URL("../../wasm/build.mjs", import.meta.url));
  execFileSync(process.execPath, [script], { stdio: "inherit" });
}
