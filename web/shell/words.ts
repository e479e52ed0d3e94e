/** Formats numbers and errors for people. */
export { hex } from "../../wasm/js/monero/hex.js";
import { RandomXError, type RandomXErrorCode } from "../../wasm/js/index.js";
import { ServerGone } from "./load.js";

/** JavaScript's dates end 100 million days after 1970. */
const LAST_SECOND = 8.64e12;

const grouped = new Intl.NumberFormat("en");
const plain = new Intl.NumberFormat("en", { maximumSignificantDigits: 5 });

/** Formats a number, mostly a whole one, with its digits in groups. */
export function whole(value: number | bigint): string {
  return grouped.format(value);
}

/** Formats a number, with powers of ten if it is very small or large. */
export function formatNumber(value: number): string {
  if (value === Infinity) return "∞";
  const size = Math.abs(value);
  return size !== 0 && (size < 1e-4 || size >= 1e9) ? value.toExponential(2) : plain.format(value);
}

/** Formats a number of things, which `name` names in the singular. */
export function plural(count: number, name: string): string {
  return `${whole(count)} ${name}${count === 1 ? "" : "s"}`;
}

/** Formats a number of bytes. */
export function bytes(count: number): string {
  return plural(count, "byte");
}

/** Formats milliseconds, as seconds from 1 s on. */
export function duration(ms: number): string {
  return ms < 1000 ? `${ms.toFixed(0)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

/** Formats a number of seconds, in its greatest unit. */
export function span(seconds: number): string {
  const units = [
    ["second", 60],
    ["minute", 60],
    ["hour", 24],
    ["day", Infinity],
  ] as const;
  let count = seconds;
  for (const [name, size] of units) {
    if (count < size) return plural(count, name);
    count = Math.floor(count / size);
  }
  return "";
}

/** Formats seconds since 1970 in UTC, to the minute. A block can contain any number. */
export function moment(seconds: number): string {
  if (!(Math.abs(seconds) < LAST_SECOND)) return "out of range";
  return new Date(seconds * 1000).toISOString().replace(/T(.*):.*/u, " $1 UTC");
}

/** Formats seconds since 1970 as a day in UTC. */
export function day(seconds: number): string {
  return moment(seconds).replace(/ \d.*/u, "");
}

const ADVICE: Record<RandomXErrorCode, string> = {
  "invalid-argument": "This cannot be checked.",
  unsupported: "This browser cannot run the check. A current one can.",
  "wasm-blocked": "This site does not let the browser run WebAssembly, so nothing can be checked.",
  "out-of-memory":
    "There is not enough memory for the check, which needs 256 MiB. Close other tabs and try again.",
  "worker-failed": "The worker of this page stopped. Try again, or reload the page.",
  "queue-full": "Too many checks are waiting. Try again when some have finished.",
  disposed: "The check was stopped before it finished. Try again.",
  aborted: "Cancelled; there is no result.",
  "node-unreachable":
    "The node cannot be reached, answers with an error, or does not allow requests from this page. From https pages, most browsers reach only https nodes and nodes on this machine.",
  "node-timeout": "The node did not answer in time.",
  "node-refused": "The node refused the request.",
  "node-too-large": "The node’s answer is too large.",
  "node-invalid": "The node’s answer does not match the request.",
};

/** Describes an error: advice for the visitor, then its code and message. */
export function failure(thrown: unknown): string {
  if (thrown instanceof ServerGone) {
    return "The server of this page does not answer. Try again when it runs.";
  }
  if (!(thrown instanceof RandomXError)) return `Unexpected error: ${String(thrown)}`;
  const advice = ADVICE[thrown.code];
  return thrown.code === "aborted" ? advice : `${advice} (${thrown.code}: ${thrown.message})`;
}
