/** Packs the package and its native add-on once before all tests, as `npm publish` would. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { TestProject } from "vitest/node";
import { addonPackage } from "../addon.js";

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
  provide("tarball", packed(new URL("../../wasm", import.meta.url), folder));
  provide("addon", addonPackage && packed(addonPackage.folder, folder));
  return () => {
    rmSync(folder, { recursive: true });
  };
}

function packed(source: URL, folder: string): string {
  const path = fileURLToPath(source);
  const options = ["pack", path, "--json", "--silent", "--pack-destination", folder];
  const printed = execFileSync("npm", options, { encoding: "utf8" });
  const [result] = JSON.parse(printed) as { filename: string }[];
  return join(folder, result?.filename ?? "");
}
