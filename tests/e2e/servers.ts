/** The tests' two sites: the product and the harness, each built when its sources are newer. */
import { readdirSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { nativeProgram } from "../programs.js";
import { HARNESS, PRODUCT } from "./addresses.js";

/** A site that Vite builds. Paths are relative to the repository. */
interface Site {
  url: string;
  config: string;
  /** The folder that it is built into. */
  built: string;
  sources: string[];
  /** The command that serves it on a port. */
  serve: (port: string) => string;
}

/** Sources of both sites. */
const SHARED = ["wasm/js", "wasm/pkg", "wasm/monero/pkg", "vite.config.ts", "package-lock.json"];

const root = fileURLToPath(new URL("../..", import.meta.url));
const vite = `"${process.execPath}" node_modules/vite/bin/vite.js`;

/** As visitors get it, with the native build beside the page. */
const product: Site = {
  url: PRODUCT,
  config: "vite.config.ts",
  built: "web/dist",
  sources: ["web", "wasm/explore/pkg", "tests/vectors", ...SHARED],
  serve: (port) => `"${nativeProgram()}" serve --page web/dist --port ${port}`,
};

const harness: Site = {
  url: HARNESS,
  config: "tests/e2e/harness/vite.config.ts",
  built: "tests/e2e/results/harness",
  sources: ["tests/e2e/harness", "crates/conformance/pkg", ...SHARED],
  serve: (port) =>
    `${vite} preview --config ${harness.config} --logLevel warn --strictPort --port ${port}`,
};

/** Both sites, as Playwright's configuration takes them. `rebuild` builds them in any case. */
export function servers({ rebuild }: { rebuild: boolean }): {
  url: string;
  cwd: string;
  command: string;
}[] {
  return [product, harness].map((site) => {
    const build = `${vite} build --config ${site.config} --logLevel warn`;
    const serve = site.serve(new URL(site.url).port);
    const command = rebuild || !isFresh(site) ? `${build} && ${serve}` : serve;
    return { url: site.url, cwd: root, command };
  });
}

function isFresh({ built, sources }: Site): boolean {
  const when = changed(`${root}${built}/index.html`);
  return when > 0 && sources.every((source) => latest(root + source) < when);
}

/** The latest change of a file, or of anything in a folder but build output. */
function latest(path: string): number {
  const own = changed(path);
  if (!statSync(path).isDirectory()) return own;
  const children = readdirSync(path).filter((name) => name !== "dist");
  return Math.max(own, ...children.map((name) => latest(`${path}/${name}`)));
}

/** Milliseconds since 1970, or 0 if there is no such file. */
function changed(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
