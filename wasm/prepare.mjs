/** Fails if somebody installs this folder before it is built. npm runs this script and shows the error. */
import { existsSync } from "node:fs";

if (!existsSync(new URL("dist/js/index.js", import.meta.url))) {
  console.error("randomx-web is not built: run `cargo xtask build-package` in its repository");
  process.exitCode = 1;
}
