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
    // The last round may begin just before the time is over.
    testTimeout: (MINUTES + 10) * 60_000,
    hookTimeout: 120_000,
  },
});
