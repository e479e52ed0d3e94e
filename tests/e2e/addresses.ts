/**
 * Where the tests' servers listen. Each takes a free port and prints it. Playwright stores the ports in variables of the
 * environment before it starts the processes that run tests.
 */

/** The product, as `npm start` serves it. */
export const PRODUCT = address(process.env.E2E_PRODUCT_PORT);

/** The harness: a page that gives tests the package to call. */
export const HARNESS = address(process.env.E2E_HARNESS_PORT);

/** No server listens on port 0. Playwright's main process, which lists the tests, reads no other port. */
function address(port = "0"): string {
  return `http://127.0.0.1:${port}/`;
}
