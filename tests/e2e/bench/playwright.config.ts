/** The browser benchmarks: the tests' servers, other files. They start browsers themselves. */
import tests from "../playwright.config.js";

export default {
  ...tests,
  projects: [{ name: "bench" }],
  testMatch: "**/*.bench.ts",
  // A trace takes pictures of the page while it is measured.
  use: { ...tests.use, trace: "off" as const },
  outputDir: "../results/bench",
  reporter: "list",
  retries: 0,
  timeout: 0,
};
