import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { MINUTES } from "./subject.js";

/** A page, a Node process, `randomx serve` and `randomx hash` under load, all at once. */
export default defineConfig({
  test: {
    root: join(import.meta.dirname, "../.."),
    include: ["tests/soak/**/*.test.ts"],
    globalSetup: "tests/node/build.ts",
    fileParallelism: false,
    // In the full tier it has the lowest priority, so on a slow machine its first rounds last as long as all other tests.
    testTimeout: (MINUTES + 110) * 60_000,
    hookTimeout: 120_000,
  },
});
