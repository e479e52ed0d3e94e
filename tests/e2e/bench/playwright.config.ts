/** The browser benchmarks, on the tests' servers. They start browsers themselves. */
import tests from "../playwright.config.js";
import { servers } from "../servers.js";

export default {
  ...tests,
  projects: [{ name: "bench" }],
  testMatch: "**/*.bench.ts",
  workers: 1,
  // A trace takes pictures of the page while it is measured.
  use: { ...tests.use, trace: "off" as const },
  outputDir: "../results/bench",
  reporter: "list",
  retries: 0,
  timeout: 0,
  // `RANDOMX_JS` changes the harness.
  webServer: servers({ rebuild: true }),
};
