/** The crates that are linked into a build, from Cargo's own lists. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../..", import.meta.url));

/** A list of all packages is a few megabytes. */
const MAX_OUTPUT = 1 << 28;

function cargo(...options) {
  const program = process.env.CARGO ?? "cargo";
  return execFileSync(program, options, { cwd: root, encoding: "utf8", maxBuffer: MAX_OUTPUT });
}

/**
 * Returns the crates in a build of some packages for a target, sorted by name, without build scripts and
 * procedural macros, which are not linked. Those of this repository come first and have no checksum.
 */
export function linkedCrates(packages, target) {
  const names = packages.flatMap((name) => ["--package", name]);
  const tree = cargo(
    "tree",
    "--locked",
    ...names,
    ...["--edges", "normal,no-proc-macro", "--target", target],
    ...["--prefix", "none", "--format", "{p}"],
  );
  // Lines are like `name v1.2.3` and `name v1.2.3 (/path)`.
  const linked = new Set(
    [...tree.matchAll(/^(\S+) v(\S+)/gmu)].map(([, name, version]) => `${name} ${version}`),
  );

  const metadata = JSON.parse(
    cargo("metadata", "--locked", "--format-version", "1", "--filter-platform", target),
  );
  const checksums = lockedChecksums();
  const nodes = new Map(metadata.resolve.nodes.map((node) => [node.id, node]));
  const byId = new Map(
    metadata.packages.map((found) => [found.id, `${found.name} ${found.version}`]),
  );
  const crates = metadata.packages
    .filter(({ id }) => linked.has(byId.get(id)))
    .map(({ id, name, version, license, authors, description, manifest_path, source }) => ({
      name,
      version,
      license: license.replaceAll("/", " OR "),
      authors,
      description: description?.trim().replaceAll(/\s+/gu, " "),
      folder: dirname(manifest_path),
      isOurs: source === null,
      checksum: checksums.get(`${name} ${version}`),
      dependencies: nodes
        .get(id)
        .deps.filter(({ dep_kinds }) => dep_kinds.some(({ kind }) => kind === null))
        .map(({ pkg }) => byId.get(pkg))
        .filter((dependency) => linked.has(dependency))
        .sort(),
    }));
  const order = ({ isOurs, name, version }) => `${isOurs ? 0 : 1} ${name} ${version}`;
  return crates.sort((one, other) => (order(one) < order(other) ? -1 : 1));
}

/** The SHA-256 hashes of archives in Cargo.lock. */
function lockedChecksums() {
  const lock = readFileSync(`${root}/Cargo.lock`, "utf8");
  const entry = /name = "(.*)"\nversion = "(.*)"\nsource = ".*"\nchecksum = "(.*)"/gu;
  return new Map(
    [...lock.matchAll(entry)].map(([, name, version, sum]) => [`${name} ${version}`, sum]),
  );
}

/** Returns the version of this repository. */
export function workspaceVersion() {
  const manifest = readFileSync(`${root}/Cargo.toml`, "utf8");
  return /^version = "(.*)"$/mu.exec(manifest)[1];
}

/** Returns the text of a file of this repository, if it exists. */
export function optionalText(path) {
  return existsSync(path) ? readFileSync(path, "utf8") : undefined;
}
