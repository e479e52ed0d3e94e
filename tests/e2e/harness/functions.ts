/** What the tests call inside a browser: arguments and results are JSON. */
import { hashes, suite, suites, verdicts } from "./vectors.js";

export const functions = { hashes, suite, suites, verdicts };

export type Functions = typeof functions;
