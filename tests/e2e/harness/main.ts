/** Gives tests the package and the harness's functions. */
import "./workers.js";
import { RandomX, RandomXError } from "../../../wasm/js/index.js";
import { functions } from "./functions.js";

/** The value of `window.harness`. */
export interface Harness {
  RandomX: typeof RandomX;
  RandomXError: typeof RandomXError;
  /** Calls one of the functions; arguments and result are JSON. */
  call: (name: keyof typeof functions, args: unknown[]) => unknown;
}

declare global {
  interface Window {
    harness: Harness;
  }
}

window.harness = {
  RandomX,
  RandomXError,
  call: (name, args) => {
    const called = functions[name] as (...args: unknown[]) => unknown;
    return called(...args);
  },
};
