/** The browser benchmarks: the tests' browser and servers, other files. */
import tests from "../playwright.config.js";

export default {
  ...tests,
  testMatch: "**/*.bench.ts",
  outputDir: "../results/bench",
  timeout: 600_000,
  use: { ...tests.use, trace: "off" as const },
};
