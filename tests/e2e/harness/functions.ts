/** What the tests call inside a browser: arguments and results are JSON. */
import { hold, measure } from "./measure.js";
import { measurePeer } from "./peer.js";
import { hashes, suite, suites, verdicts } from "./vectors.js";

export const functions = { hashes, hold, measure, measurePeer, suite, suites, verdicts };

export type Functions = typeof functions;
