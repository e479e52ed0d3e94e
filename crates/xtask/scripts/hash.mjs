/**
 * Writes what the package says about a module: `hash.js` with its SHA-256 hash, for `configuration`,
 * and `build.json` with the programs that built it. Arguments: the folder, then `NAME VERSION` for each.
 */
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [folder, ...programs] = process.argv.slice(2);
const [module, ...others] = readdirSync(folder).filter((name) => name.endsWith(".wasm"));
if (!module || others.length > 0) throw new Error(`${folder}: expected one module`);

const hash = createHash("sha256")
  .update(readFileSync(join(folder, module)))
  .digest("hex");
writeFileSync(
  join(folder, "hash.js"),
  `/** The SHA-256 hash of ${module}. */\nexport const SHA256 = "${hash}";\n`,
);
writeFileSync(join(folder, "hash.d.ts"), "export const SHA256: string;\n");

const tools = programs.map((program) => {
  const [name, ...version] = program.split(" ");
  return { name, version: version.join(" ") };
});
writeFileSync(join(folder, "build.json"), `${JSON.stringify(tools, undefined, 2)}\n`);
