import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";
import policy from "./web/headers.json" with { type: "json" };

/**
 * What every answer carries, here and from `randomx serve`: isolation from other sites' pages, and a
 * policy that allows nothing but this site's own files, and WebAssembly: no inline code. Other
 * origins are only asked for data, since a visitor may name any node.
 */
export const headers = Object.fromEntries(
  Object.entries(policy).map(([name, parts]) => [name, parts.join("; ")]),
) as Record<keyof typeof policy, string>;

/**
 * Vite's preview leaves headers out where it answers that nothing has changed, and WebKit then
 * refuses a worker's script: it takes the answer for one without isolation.
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

const serving = { host: "127.0.0.1", headers, cors: false };

export default defineConfig({
  root: "web",
  plugins: [headersOnEveryAnswer],
  server: serving,
  preview: serving,
  build: {
    target: "es2022",
    outDir: "dist",
    emptyOutDir: true,
    // A data: URL would need a looser policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  worker: { format: "es" },
  test: {
    root: ".",
    include: ["tests/node/**/*.test.ts"],
    globalSetup: "tests/node/build.ts",
    // A cache is 256 MiB and a fill keeps a core busy.
    maxWorkers: 2,
    testTimeout: 120_000,
  },
});
