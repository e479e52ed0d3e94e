import { defineConfig } from "vitest/config";

/** Nothing but this site's own files, and WebAssembly: no inline code, no other origin. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "worker-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
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

const serving = { host: "127.0.0.1", headers, cors: false };

export default defineConfig({
  root: "web",
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
