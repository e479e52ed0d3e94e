/** The browser benchmarks: the tests' servers, other files. They start browsers themselves. */
import tests from "../playwright.config.js";

export default {
  ...tests,
  projects: [{ name: "bench" }],
  testMatch: "**/*.bench.ts",
  outputDir: "../results/bench",
  reporter: "list",
  retries: 0,
  timeout: 0,
};
