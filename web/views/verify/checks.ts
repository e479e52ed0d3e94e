/** The list of checks: the outcome of each, the reason, and the bytes that it examined. */
import type { CheckName } from "../../../wasm/js/index.js";
import { make } from "../../shell/page.js";
import type { Answer } from "./answer.js";
import { byWeight } from "./headline.js";
import { shortened } from "./strip.js";

/** Bytes that a check examines. */
export interface Examined {
  name: string;
  hex: string;
  /** The index of the block's part with these bytes, if there is one. */
  part?: number;
}

/** The question that each check answers. */
const QUESTIONS: Record<CheckName, string> = {
  block: "Are the bytes a block?",
  "hashing-blob": "Does the hashing blob belong to this block?",
  version: "Does its version belong to this height?",
  vote: "Does its miner vote for that version or a later one?",
  height: "Does it have the expected height?",
  "miner-transaction": "Does the miner’s transaction follow the rules?",
  transactions: "Is each transaction listed once?",
  id: "Does it have the expected id?",
  "previous-id": "Does it name the block before it?",
  "timestamp-median": "Is its timestamp at least the median of the 60 blocks before it?",
  "timestamp-future": "Is its timestamp at most two hours in the future?",
  "seed-hash": "Is the key the id of the seed block?",
  difficulty: "Is the difficulty the one that the blocks before it require?",
  "proof-of-work": "Was the work done?",
};

/** The checks of `verifyBlock`. */
export const OF_A_BLOCK: readonly CheckName[] = [
  ...(["block", "hashing-blob", "version", "vote", "height"] as const),
  ...(["miner-transaction", "transactions", "id"] as const),
  "proof-of-work",
];

/** Stands for the answer of a verification that was cancelled or failed. */
export const NO_ANSWER: Answer = {
  status: "unproven",
  valid: false,
  hash: null,
  id: null,
  height: null,
  checks: OF_A_BLOCK.map((name) => ({ name, passed: null, detail: "there is no result" })),
};

type Outcome = "waiting" | "passed" | "failed" | "skipped" | "undecided";

const OUTCOMES: Record<Outcome, string> = {
  waiting: "waiting",
  passed: "passed",
  failed: "failed",
  skipped: "not checked",
  undecided: "not decided",
};

/** The list of checks. */
export class Checks {
  readonly #list: HTMLOListElement;
  readonly #light: (parts: number[]) => void;

  /** `light` highlights the parts of the block that the pointed-at check examines. */
  constructor(list: HTMLOListElement, light: (parts: number[]) => void) {
    this.#list = list;
    this.#light = light;
  }

  /** Lists checks before their outcomes, with the bytes that they will examine. */
  expect(names: readonly CheckName[], examined: (name: CheckName) => Examined[]): void {
    this.#list.replaceChildren(
      ...names.map((name) => this.#row(name, "waiting", "…", examined(name))),
    );
  }

  /** Shows the outcomes of checks, those that failed first. */
  show({ status, checks }: Answer, examined: (name: CheckName) => Examined[]): void {
    // This page has no rules for the version, so a failed check does not prove the block invalid.
    const failed = status === "update-needed" ? "undecided" : "failed";
    this.#list.replaceChildren(
      ...byWeight(checks).map(({ name, passed, detail }) => {
        const outcome = passed === null ? "skipped" : passed ? "passed" : failed;
        const bytes = examined(name);
        // A right id already stands among the bytes.
        const reason = bytes.some(({ hex }) => hex === detail) ? "As expected" : detail;
        return this.#row(name, outcome, sentence(reason), bytes);
      }),
    );
  }

  #row(
    name: CheckName,
    outcome: Outcome,
    detail: string,
    examined: readonly Examined[],
  ): HTMLElement {
    const row = entry(name, outcome, detail);
    if (examined.length > 0) row.append(this.#bytes(row, examined));
    return row;
  }

  #bytes(row: HTMLElement, examined: readonly Examined[]): HTMLElement {
    const parts = examined.flatMap(({ part }) => (part === undefined ? [] : [part]));
    row.addEventListener("pointerenter", () => {
      this.#light(parts);
    });
    row.addEventListener("pointerleave", () => {
      this.#light([]);
    });
    const list = make(
      "dl",
      ...examined.map(({ name, hex }) => {
        const bytes = make("dd", ...shortened(hex));
        bytes.className = "hex";
        return make("div", make("dt", name), bytes);
      }),
    );
    list.className = "examined";
    return list;
  }
}

function entry(name: CheckName, outcome: Outcome, detail: string): HTMLElement {
  const state = make("span", make("span", OUTCOMES[outcome]));
  state.className = "outcome";
  const question = make("span", make("strong", QUESTIONS[name]), " ", make("code", name));
  const row = make("li", make("p", question, " ", state), make("p", detail));
  row.dataset.check = name;
  row.dataset.outcome = outcome;
  return row;
}

/** Capitalises a detail, unless it begins with a hash. */
function sentence(detail: string): string {
  const first = /^[a-z](?=[a-z]*[ ,:;])/u;
  return `${detail.replace(first, (letter) => letter.toUpperCase())}.`;
}
