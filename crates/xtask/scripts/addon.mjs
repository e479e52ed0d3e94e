/** Writes the documents of the native add-on into its package's folder, the argument. */
import { execFileSync } from "node:child_process";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { makeReadable } from "./archive.mjs";
import { linkedCrates } from "./crates.mjs";
import { notices } from "./notices.mjs";
import { sbom } from "./sbom.mjs";
import { writeSums } from "./sums.mjs";

const [folder, target] = process.argv.slice(2);
const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));

const crates = linkedCrates(["randomx-node"], target);
const [, compiler] = execFileSync("rustc", ["--version"], { encoding: "utf8" })
  .trim()
  .split("rustc ");
const purl = `pkg:npm/${name}@${version}`;
const tools = [{ name: "rustc", version: compiler }];
const bom = sbom({ type: "library", name, version, license, purl, tools, crates });
writeFileSync(join(folder, "sbom.cdx.json"), bom);
writeFileSync(join(folder, "NOTICES.txt"), notices(name, crates));
copyFileSync(fileURLToPath(new URL("../../../LICENSE", import.meta.url)), join(folder, "LICENSE"));

writeSums(folder, ["LICENSE", "NOTICES.txt", "randomx.node", "sbom.cdx.json"]);
makeReadable(folder);
