/** The harness: built like the product and served with its headers, but apart from it. */
import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";
import product, { headers, headersOnEveryAnswer } from "../../../vite.config.js";

/** The browser script of a copy of randomx.js, if the benchmarks measure one. */
const peer = process.env.RANDOMX_JS ?? fileURLToPath(new URL("no-peer.ts", import.meta.url));

export default defineConfig({
  root: import.meta.dirname,
  plugins: [headersOnEveryAnswer],
  resolve: { alias: { "randomx.js": peer } },
  build: { ...product.build, rolldownOptions: {}, outDir: "../results/harness" },
  worker: { format: "es" },
  preview: { host: "127.0.0.1", headers },
});
