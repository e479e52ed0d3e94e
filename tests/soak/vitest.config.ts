import { defineConfig } from "vitest/config";
import { MINUTES } from "./subject.js";

/** A page, a Node process, `randomx serve` and `randomx hash` under load, all at once. */
export default defineConfig({
  test: {
    root: new URL("../..", import.meta.url).pathname,
    include: ["tests/soak/**/*.test.ts"],
    globalSetup: "tests/node/build.ts",
    fileParallelism: false,
    // Beside other tests, which come first, the start and the last round take minutes.
    testTimeout: (MINUTES + 30) * 60_000,
    hookTimeout: 600_000,
  },
});
