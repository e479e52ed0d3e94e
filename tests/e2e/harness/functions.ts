/** The functions that tests call inside a browser: arguments and results are JSON. */
import { attacked } from "./attacked.js";
import { measureBatches } from "./batches.js";
import { detect } from "./detect.js";
import * as faults from "./faults.js";
import { followed, followTime, lostFollower } from "./follow.js";
import * as keeping from "./keeping.js";
import { hold, measure } from "./measure.js";
import { measurePeer } from "./peer.js";
import { soak } from "./soak.js";
import { chain, hashes, hashesByDefault, suite, suites, verdicts, whole } from "./vectors.js";

export const functions = {
  attacked,
  detect,
  ...faults,
  followed,
  followTime,
  chain,
  hashes,
  hashesByDefault,
  hold,
  lostFollower,
  ...keeping,
  measure,
  measureBatches,
  measurePeer,
  soak,
  suite,
  suites,
  verdicts,
  whole,
};

export type Functions = typeof functions;
