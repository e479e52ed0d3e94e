/** The outcome of a verification as one sentence, and the order of its checks by importance. */
import type { BlockStatus, Check, CheckName } from "../../../wasm/js/index.js";
import { whole } from "../../shell/words.js";

/** The checks whose failure matters most, in order. The others follow in their own order. */
const IMPORTANT: readonly CheckName[] = ["block", "proof-of-work", "id"];

/** The consequence of a changed byte, by the most important check that fails. */
const CONSEQUENCES: Partial<Record<CheckName, string>> = {
  block: "the bytes are no longer a block",
  "proof-of-work": "the work no longer fits",
  id: "it is no longer the same block",
};

/** Returns the checks with those that failed first, the most important one at the head. */
export function byWeight(checks: readonly Check[]): Check[] {
  const place = ({ name, passed }: Check): number => {
    if (passed !== false) return IMPORTANT.length + 1;
    const at = IMPORTANT.indexOf(name);
    return at < 0 ? IMPORTANT.length : at;
  };
  return [...checks].sort((a, b) => place(a) - place(b));
}

/** Returns why this page cannot judge a block: its version is newer than the page expects, or older than RandomX. */
export function whyUndecided(checks: readonly Check[]): string {
  return checks.find(({ name }) => name === "version")?.detail ?? "";
}

/** Describes the outcome of checks. `isAltered`: the visitor changed a byte of a real block. */
export function headline(
  { status, checks }: { status: BlockStatus; checks: readonly Check[] },
  isAltered: boolean,
): string {
  if (status === "update-needed") return `Not decided: ${whyUndecided(checks)}.`;
  const failed = checks.filter(({ passed }) => passed === false).length;
  const made = checks.filter(({ passed }) => passed !== null).length;
  const [first] = byWeight(checks);
  if (!first || failed === 0) return withoutFailure(checks, made);
  const consequence = CONSEQUENCES[first.name] ?? "a rule of the chain is broken";
  const reason = isAltered ? `one changed digit, and ${consequence}` : first.detail;
  return `Rejected: ${reason}. ${whole(failed)} of ${whole(made)} checks failed.`;
}

function withoutFailure(checks: readonly Check[], made: number): string {
  const done = checks.some(({ name, passed }) => name === "proof-of-work" && passed === true);
  const version = checks.find(({ name }) => name === "version");
  if (done && version?.passed === true) {
    const count =
      made === checks.length ? `All ${whole(made)}` : `${whole(made)} of ${whole(checks.length)}`;
    const rest = made === checks.length ? "passed" : "could be made, and passed";
    return `Verified: the work was done. ${count} checks ${rest}.`;
  }
  const reason = version?.passed === null ? version.detail : "the proof of work was not checked";
  return `Not decided: ${reason}.`;
}
