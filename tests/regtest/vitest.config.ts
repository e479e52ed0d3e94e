import { join } from "node:path";
import { defineConfig } from "vitest/config";

/** Tests that start Monero's daemon and the program `randomx`. */
export default defineConfig({
  test: {
    root: join(import.meta.dirname, "../.."),
    include: ["tests/regtest/**/*.test.ts"],
    globalSetup: "tests/node/build.ts",
    // Each file starts a daemon, and workers that keep every core busy.
    fileParallelism: false,
    // Wallets derive their keys slowly.
    testTimeout: 300_000,
    // Daemons mine whole chains, on a busy machine a few blocks a second.
    hookTimeout: 900_000,
  },
});
