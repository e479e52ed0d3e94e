import { defineConfig } from "vitest/config";

/** Apart from the other tests: these start Monero's daemon and the command `randomx`. */
export default defineConfig({
  test: {
    root: new URL("../..", import.meta.url).pathname,
    include: ["tests/regtest/**/*.test.ts"],
    globalSetup: "tests/node/build.ts",
    // Each file has a daemon, and workers that keep every core busy.
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 300_000,
  },
});
