/** Packs the package and its native add-on once before all tests, as `npm publish` would. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { TestProject } from "vitest/node";
import { addonPackage } from "../addon.js";
import build from "../node/build.js";
import { npm } from "../programs.js";

declare module "vitest" {
  interface ProvidedContext {
    /** The path of the packed package. */
    tarball: string;
    /** The path of the packed add-on, if there is one for this system. */
    addon: string | undefined;
  }
}

/** Runs once; the function that it returns runs at the end. */
export default function pack({ provide }: TestProject): () => void {
  const folder = mkdtempSync(join(tmpdir(), "randomx-web-pack-"));
  const staged = join(folder, "randomx-web");
  build();
  run("crates/xtask/scripts/stage.mjs", staged);
  provide("tarball", packed(staged, folder));
  provide("addon", addonPackage && packed(fileURLToPath(addonPackage.folder), folder));
  return () => {
    rmSync(folder, { recursive: true });
  };
}

/** Runs a script of the repository, named by its path in there. */
export function run(script: string, ...options: string[]): void {
  const path = fileURLToPath(new URL(`../../${script}`, import.meta.url));
  execFileSync(process.execPath, [path, ...options]);
}

function packed(source: string, folder: string): string {
  const printed = npm(["pack", source, "--json", "--silent", "--pack-destination", folder]);
  const [result] = JSON.parse(printed) as { filename: string }[];
  return join(folder, result?.filename ?? "");
}
