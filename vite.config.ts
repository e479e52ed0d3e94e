import { fileURLToPath } from "node:url";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";
import { documentation } from "./web/build/document.js";
import { smallExamples } from "./web/build/examples.js";
import { links, preview } from "./web/build/links.js";
import { smallPlot } from "./web/build/plot.js";
import { shortViews } from "./web/build/views.js";
import policy from "./web/headers.json" with { type: "json" };

/**
 * The headers of every answer, here and from `randomx serve`. They isolate the page from other sites,
 * and allow only this site's own files and WebAssembly. Of inline code they allow one script, by its hash. The page may
 * request data from any origin, since a visitor may name any node.
 */
export const headers = Object.fromEntries(
  Object.entries(policy).map(([name, parts]) => [name, parts.join("; ")]),
) as Record<keyof typeof policy, string>;

/**
 * Vite's preview omits headers from 304 answers. WebKit then refuses a worker's script, as if it came
 * without isolation.
 */
export const headersOnEveryAnswer: Plugin = {
  name: "headers-on-every-answer",
  configurePreviewServer({ middlewares }) {
    middlewares.use((_request, response, next) => {
      for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
      next();
    });
  },
};

/** Returns the absolute path of a file of the repository. */
export function path(file: string): string {
  return fileURLToPath(new URL(file, import.meta.url));
}

/** The package in one file: small files compress badly, and the page uses all of it. */
export const output = {
  codeSplitting: { groups: [{ name: "package", test: /\/wasm\/js\// }] },
};

const serving = { host: "127.0.0.1", headers, cors: false };

export default defineConfig({
  root: "web",
  // The page works below any address.
  base: "./",
  plugins: [
    headersOnEveryAnswer,
    documentation(new URL("wasm/README.md", import.meta.url)),
    links(),
    preview(process.env.PAGE_URL),
    smallExamples,
    smallPlot,
    shortViews,
  ],
  server: serving,
  preview: serving,
  build: {
    target: "es2022",
    outDir: "dist",
    emptyOutDir: true,
    // data: URLs would need a looser policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      input: [path("web/index.html"), path("web/documentation.html")],
      output,
    },
  },
  worker: {
    format: "es",
    rolldownOptions: {
      output: {
        // One file compresses the similar glue code of these modules better. Most visitors verify only blocks, so the glue
        // code for blocks is apart.
        codeSplitting: {
          groups: [{ name: "monero", test: /\/wasm\/(monero|follow)\/pkg\// }],
        },
      },
    },
  },
  test: {
    root: ".",
    include: ["tests/node/**/*.test.ts"],
    globalSetup: "tests/node/build.ts",
    // Each worker holds a cache of 256 MiB, and keeps a core busy.
    maxWorkers: 2,
    // A guard against hangs: Rust tests run beside these, and a suite of all vectors takes a minute alone.
    testTimeout: 600_000,
    hookTimeout: 600_000,
  },
});
