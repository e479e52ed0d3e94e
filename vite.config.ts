import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

/**
 * Nothing but this site's own files, and WebAssembly: no inline code. Other origins are only asked
 * for data, since a visitor may name any node.
 */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "worker-src 'self'",
  "style-src 'self'",
  "connect-src 'self' http: https:",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** What every answer carries: the policy, and isolation from other sites' pages. */
export const headers = {
  "Content-Security-Policy": CONTENT_SECURITY_POLICY,
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
  "Cross-Origin-Resource-Policy": "same-origin",
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
};

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
