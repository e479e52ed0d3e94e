/**
 * Prints the names of packages for this system that `package-lock.json` lists and npm did not install, one a line: npm
 * ignores every error of an optional package. Argument: the folder of the list.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const [, , root] = process.argv;
const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));

/** Whether a value is in a list of a manifest, which npm reads in the same way. A list may name what does not fit. */
function fits(value, wanted) {
  const list = [wanted ?? []].flat();
  const excluded = list.filter((entry) => entry.startsWith("!"));
  if (excluded.includes(`!${value}`)) return false;
  return list.length === excluded.length || list.includes(value) || list.join() === "any";
}

/** The C library's name in manifests, found as npm does; undefined on other systems than Linux. */
function libc() {
  const ldd = "/usr/bin/ldd";
  if (process.platform !== "linux") return undefined;
  if (existsSync(ldd)) {
    const text = readFileSync(ldd, "utf8");
    return text.includes("musl") ? "musl" : text.includes("GNU C Library") ? "glibc" : undefined;
  }
  process.report.excludeNetwork = true;
  const { header, sharedObjects } = process.report.getReport();
  if (header.glibcVersionRuntime) return "glibc";
  return sharedObjects.some((file) => /libc\.musl-|ld-musl-/u.test(file)) ? "musl" : undefined;
}

const missing = Object.entries(packages)
  // Other optional packages are for other systems too: a package for another system needs them.
  .filter(([, { os, cpu }]) => os !== undefined || cpu !== undefined)
  .filter(([, { os, cpu }]) => fits(process.platform, os) && fits(process.arch, cpu))
  .filter(([, entry]) => fits(libc(), entry.libc))
  .filter(([path]) => !existsSync(join(root, path, "package.json")));
for (const [path] of missing) console.log(path.replace(/^.*node_modules\//u, ""));
