/** Writes the documents of a native add-on into its package's folder. Arguments: the folder, the target, the compiler. */
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { makeReadable } from "./archive.mjs";
import { linkedCrates } from "./crates.mjs";
import { notices } from "./notices.mjs";
import { sbom } from "./sbom.mjs";
import { writeSums } from "./sums.mjs";

const [folder, target, compiler] = process.argv.slice(2);
const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));

const crates = linkedCrates(["randomx-node"], target);
const purl = `pkg:npm/${name}@${version}`;
const tools = [{ name: "rustc", version: compiler }];
const bom = sbom({ type: "library", name, version, license, purl, tools, crates });
writeFileSync(join(folder, "sbom.cdx.json"), bom);
writeFileSync(join(folder, "NOTICES.txt"), notices(name, crates));
copyFileSync(fileURLToPath(new URL("../../../LICENSE", import.meta.url)), join(folder, "LICENSE"));

writeSums(folder, ["LICENSE", "NOTICES.txt", "randomx.node", "sbom.cdx.json"]);
makeReadable(folder);
