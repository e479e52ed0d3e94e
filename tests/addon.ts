/** The packages of the native add-on in `crates/node/npm`: one for each system. */
import { readFileSync, readdirSync } from "node:fs";

export interface AddonPackage {
  name: string;
  version: string;
  folder: URL;
  /** The names of system and processor in Node. */
  os: string[];
  cpu: string[];
}

const PARENT = new URL("../crates/node/npm/", import.meta.url);

export const ADDON_PACKAGES: AddonPackage[] = readdirSync(PARENT).map((name) => {
  const folder = new URL(`${name}/`, PARENT);
  const text = readFileSync(new URL("package.json", folder), "utf8");
  return { ...(JSON.parse(text) as Omit<AddonPackage, "folder">), folder };
});

/** The package for this system, if there is one. */
export const addonPackage = ADDON_PACKAGES.find(
  ({ os, cpu }) => os.includes(process.platform) && cpu.includes(process.arch),
);
