/** Gives the tests what they call inside the browser. */
import loadConformance, {
  run,
  suites,
} from "../../../crates/conformance/pkg/randomx_conformance.js";
import { RandomX, RandomXError } from "../../../wasm/js/index.js";

/** What tests find as `window.harness`. */
export interface Harness {
  RandomX: typeof RandomX;
  RandomXError: typeof RandomXError;
  /** The suites of crates/conformance, run on the page's own thread. */
  conformance: () => Promise<{ run: typeof run; suites: typeof suites }>;
}

declare global {
  interface Window {
    harness: Harness;
  }
}

window.harness = {
  RandomX,
  RandomXError,
  conformance: async () => {
    await loadConformance();
    return { run, suites };
  },
};
