/** Packs the package once before all tests, as `npm publish` would. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    /** The path of the packed package. */
    tarball: string;
  }
}

/** Runs once; the function that it returns runs at the end. */
export default function pack({ provide }: TestProject): () => void {
  const folder = mkdtempSync(join(tmpdir(), "randomx-web-pack-"));
  const source = fileURLToPath(new URL("../../wasm", import.meta.url));
  const options = ["pack", source, "--json", "--silent", "--pack-destination", folder];
  const printed = execFileSync("npm", options, { encoding: "utf8" });
  const [packed] = JSON.parse(printed) as { filename: string }[];
  provide("tarball", join(folder, packed?.filename ?? ""));
  return () => {
    rmSync(folder, { recursive: true });
  };
}
