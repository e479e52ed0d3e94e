/** Numbers and failures, as people read them. */
export { hex } from "../../wasm/js/monero/hex.js";
import { RandomXError, type RandomXErrorCode } from "../../wasm/js/index.js";

/** 100 million days after 1970, JavaScript's dates end. */
const LAST_SECOND = 8.64e12;

const grouped = new Intl.NumberFormat("en");

/** A whole number with its digits in groups. */
export function whole(value: number | bigint): string {
  return grouped.format(value);
}

/** A number of bytes. */
export function bytes(count: number): string {
  return count === 1 ? "1 byte" : `${whole(count)} bytes`;
}

/** Milliseconds, or seconds for long ones. */
export function duration(ms: number): string {
  return ms < 1000 ? `${ms.toFixed(0)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

/** A moment, given in seconds since 1970, in UTC to the minute; blocks can say anything. */
export function moment(seconds: number): string {
  if (!(Math.abs(seconds) < LAST_SECOND)) return "beyond the calendar";
  return `${new Date(seconds * 1000).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

/** The day of a moment, given in seconds since 1970, in UTC. */
export function day(seconds: number): string {
  return moment(seconds).slice(0, 10);
}

const ADVICE: Record<RandomXErrorCode, string> = {
  "invalid-argument": "The block could not be checked.",
  unsupported: "This browser cannot run the check. A current one can.",
  "wasm-blocked": "This site does not let the browser run WebAssembly, so nothing can be checked.",
  "out-of-memory":
    "There is not enough memory for the check, which needs 256 MiB. Close other tabs and try again.",
  "worker-failed":
    "The part of this page that does the work stopped. Try again, or reload the page.",
  "queue-full": "Too much is being checked already. Wait for some of it.",
  disposed: "The check was ended before it was done. Try again.",
  aborted: "Cancelled. Nothing was decided about this block.",
  "node-unreachable": "The node cannot be reached, or does not let this page ask it.",
  "node-timeout": "The node did not answer in time.",
  "node-refused": "The node does not answer this.",
  "node-too-large": "The node answered with more than a block can be.",
  "node-invalid": "The node answered something else than was asked for.",
};

/** A failure: what it means here, then what it said. */
export function failure(thrown: unknown): string {
  if (!(thrown instanceof RandomXError)) return `Something unforeseen failed: ${String(thrown)}`;
  const advice = ADVICE[thrown.code];
  return thrown.code === "aborted" ? advice : `${advice} (${thrown.code}: ${thrown.message})`;
}
