/** The packed package in fresh projects; each bundler and each runtime verifies a real block. */
import { defineConfig } from "vitest/config";

export default defineConfig({
  root: import.meta.dirname,
  test: {
    include: ["*.test.ts"],
    globalSetup: "pack.ts",
    // Filling a cache keeps a core busy.
    maxWorkers: 1,
    testTimeout: 600_000,
    hookTimeout: 120_000,
  },
});
