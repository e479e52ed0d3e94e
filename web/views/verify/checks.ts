/** The named checks one by one: how each went, why, and the bytes that it looked at. */
import type { Check, CheckName } from "../../../wasm/js/index.js";
import { make } from "../../shell/page.js";
import { shortened } from "./strip.js";

/** Bytes that a check looked at. */
export interface Looked {
  name: string;
  hex: string;
  /** Which part of the block they are, if they are one. */
  part?: number;
}

/** What each check asks. */
const QUESTIONS: Record<CheckName, string> = {
  block: "Are the bytes a block?",
  "hashing-blob": "Is what is hashed the block’s?",
  version: "Does its version belong to this height?",
  vote: "Does its miner vote for that version or a later one?",
  height: "Is it the block of this height?",
  "miner-transaction": "Does the miner’s transaction keep to the rules?",
  transactions: "Is each transaction listed once?",
  id: "Is it the block of this id?",
  "previous-id": "Does it name the block before it?",
  "timestamp-median": "Is it newer than half of the 60 blocks before it?",
  "timestamp-future": "Is it from the past?",
  "seed-hash": "Is the key the id of the seed block?",
  difficulty: "Is the difficulty what the blocks before it demand?",
  "proof-of-work": "Was the work done?",
};

/** What `verifyBlock` looks at. */
export const OF_A_BLOCK: readonly CheckName[] = [
  ...(["block", "hashing-blob", "version", "vote", "height"] as const),
  ...(["miner-transaction", "transactions", "id"] as const),
  "proof-of-work",
];

type Outcome = "waiting" | "passed" | "failed" | "unasked";

const OUTCOMES: Record<Outcome, string> = {
  waiting: "waiting",
  passed: "holds",
  failed: "is broken",
  unasked: "not asked",
};

/** The list of checks. */
export class Checks {
  readonly #list: HTMLOListElement;
  readonly #light: (parts: number[]) => void;

  /** `light` is told which parts of the block the visitor's pointer or keyboard is about. */
  constructor(list: HTMLOListElement, light: (parts: number[]) => void) {
    this.#list = list;
    this.#light = light;
  }

  /** Lists checks that are still to be made, with the bytes that they will look at. */
  expect(names: readonly CheckName[], looked: (name: CheckName) => Looked[]): void {
    this.#list.replaceChildren(
      ...names.map((name) => this.#row(name, "waiting", "…", looked(name))),
    );
  }

  /** Shows how checks went. */
  show(checks: readonly Check[], looked: (name: CheckName) => Looked[]): void {
    this.#list.replaceChildren(
      ...checks.map(({ name, passed, detail }) => {
        const outcome = passed === null ? "unasked" : passed ? "passed" : "failed";
        const bytes = looked(name);
        // An id that is right is among the bytes, and need not be told twice.
        const said = bytes.some(({ hex }) => hex === detail) ? "As expected" : detail;
        return this.#row(name, outcome, sentence(said), bytes);
      }),
    );
  }

  #row(name: CheckName, outcome: Outcome, detail: string, looked: readonly Looked[]): HTMLElement {
    const row = entry(name, outcome, detail);
    if (looked.length > 0) row.append(this.#bytes(row, looked));
    return row;
  }

  #bytes(row: HTMLElement, looked: readonly Looked[]): HTMLElement {
    const parts = looked.flatMap(({ part }) => (part === undefined ? [] : [part]));
    row.addEventListener("pointerenter", () => {
      this.#light(parts);
    });
    row.addEventListener("pointerleave", () => {
      this.#light([]);
    });
    const list = make(
      "dl",
      ...looked.map(({ name, hex }) => {
        const bytes = make("dd", ...shortened(hex));
        bytes.className = "hex";
        return make("div", make("dt", name), bytes);
      }),
    );
    list.className = "looked";
    return list;
  }
}

function entry(name: CheckName, outcome: Outcome, detail: string): HTMLElement {
  const state = make("span", OUTCOMES[outcome]);
  state.className = "outcome";
  const question = make("span", make("strong", QUESTIONS[name]), " ", make("code", name));
  const row = make("li", make("p", question, " ", state), make("p", detail));
  row.dataset.check = name;
  row.dataset.outcome = outcome;
  return row;
}

/** A detail with a great letter, unless it begins with a hash. */
function sentence(detail: string): string {
  const first = /^[a-z](?=[a-z]*[ ,:;])/u;
  return `${detail.replace(first, (letter) => letter.toUpperCase())}.`;
}
