/** The tests' two sites: the product and the harness, built when their sources are newer. */
import { readdirSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { nativeProgram } from "../programs.js";

/** A site that Vite builds. Paths are relative to the repository. */
interface Site {
  /** The configurations of its builds, with the folders that they write. */
  builds: { config: string; built: string }[];
  sources: string[];
  /** The command that serves it on a free port, and prints its address. */
  serve: string;
  /** Matches the address. Playwright stores the port in a variable, which `addresses.ts` reads. */
  listening: RegExp;
}

/** Sources of both sites. */
const SHARED = [
  "wasm/js",
  "wasm/pkg",
  "wasm/block/pkg",
  "wasm/monero/pkg",
  "wasm/follow/pkg",
  "vite.config.ts",
  "package-lock.json",
];

const HARNESS_CONFIG = "tests/e2e/harness/vite.config.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const vite = `"${process.execPath}" node_modules/vite/bin/vite.js`;

/** As visitors get it, with the native build beside the page; and as static hosts get it. */
const product: Site = {
  builds: [
    { config: "vite.config.ts", built: "web/dist" },
    { config: "web/build/hosted.config.ts", built: "web/site" },
  ],
  sources: ["web", "wasm/explore/pkg", "wasm/README.md", "tests/vectors", ...SHARED],
  serve: `"${nativeProgram()}" serve --page web/dist --port 0`,
  listening: /http:\/\/127\.0\.0\.1:(?<E2E_PRODUCT_PORT>\d+)\//u,
};

const harness: Site = {
  builds: [{ config: HARNESS_CONFIG, built: "tests/e2e/results/harness" }],
  sources: ["tests/e2e/harness", "tests/node/chain", "crates/conformance/pkg", ...SHARED],
  serve: `${vite} preview --config ${HARNESS_CONFIG} --port 0`,
  listening: /http:\/\/127\.0\.0\.1:(?<E2E_HARNESS_PORT>\d+)\//u,
};

/** Both sites, as Playwright's configuration takes them. `rebuild` builds them in any case. */
export function servers({ rebuild }: { rebuild: boolean }): {
  cwd: string;
  command: string;
  wait: { stdout: RegExp };
}[] {
  return [product, harness].map((site) => {
    const builds = site.builds
      .filter(({ built }) => rebuild || !isFresh(built, site.sources))
      .map(({ config }) => `${vite} build --config ${config} --logLevel warn`);
    const command = [...builds, site.serve].join(" && ");
    return { cwd: root, command, wait: { stdout: site.listening } };
  });
}

function isFresh(built: string, sources: readonly string[]): boolean {
  const when = changed(`${root}${built}/index.html`);
  return when > 0 && sources.every((source) => latest(root + source) < when);
}

/** The latest change of a file, or of anything in a folder but build output. */
function latest(path: string): number {
  const own = changed(path);
  if (!statSync(path).isDirectory()) return own;
  const children = readdirSync(path).filter((name) => name !== "dist" && name !== "site");
  return Math.max(own, ...children.map((name) => latest(`${path}/${name}`)));
}

/** Milliseconds since 1970, or 0 if there is no such file. */
function changed(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
