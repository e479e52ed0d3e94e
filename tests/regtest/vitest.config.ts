import { defineConfig } from "vitest/config";

/** Tests that start Monero's daemon and the program `randomx`. */
export default defineConfig({
  test: {
    root: new URL("../..", import.meta.url).pathname,
    include: ["tests/regtest/**/*.test.ts"],
    globalSetup: "tests/node/build.ts",
    // Each file starts a daemon on ports of its own. The tests mostly wait.
    maxWorkers: 2,
    // Wallets derive their keys slowly.
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
});
