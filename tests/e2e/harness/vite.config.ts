/** The tests' page: built like the product and served with its headers, but apart from it. */
import { defineConfig } from "vite";
import product, { headers } from "../../../vite.config.js";

export default defineConfig({
  root: import.meta.dirname,
  build: { ...product.build, outDir: "../results/harness" },
  worker: { format: "es" },
  preview: { host: "127.0.0.1", headers },
});
