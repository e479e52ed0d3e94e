/** The blocks of a chain with what was looked at in each, and how the whole goes. */
import { bytesToHex } from "@noble/hashes/utils.js";
import type { Check, ChainVerdict } from "../../../wasm/js/index.js";
import { find, make } from "../../shell/page.js";
import { whole } from "../../shell/words.js";

const OUTCOMES = { passed: "holds", failed: "is broken", unasked: "not asked" };

/** The list in the section `#node`. */
export class Blocks {
  readonly #root = find(document, "#node", HTMLElement);
  readonly #verdict = find(document, "#node-verdict", HTMLElement);
  readonly #list = find(document, "#node-blocks", HTMLOListElement);

  /** Forgets all blocks. */
  clear(words: string): void {
    this.#list.replaceChildren();
    this.#enter("waiting", words);
  }

  /** Says how far it is. */
  tell(words: string): void {
    this.#enter("hashing", words);
  }

  /** Says what came of it. */
  end(state: "valid" | "invalid" | "cancelled" | "failed", words: string): void {
    this.#enter(state, words);
  }

  /** Adds a block. One that is not valid is shown with all that was looked at. */
  add({ height, id, valid, checks }: ChainVerdict): void {
    const name = make("code", id ? bytesToHex(id) : "no id");
    const summary = make("summary", `${whole(height)} ${valid ? "valid" : "not valid"} `, name);
    const details = document.createElement("details");
    details.append(summary, make("ul", ...checks.map(line)));
    details.open = !valid;
    const entry = make("li", details);
    entry.dataset.valid = String(valid);
    this.#list.append(entry);
  }

  #enter(state: string, words: string): void {
    this.#root.dataset.state = state;
    this.#verdict.textContent = words;
  }
}

function line({ name, passed, detail }: Check): HTMLElement {
  const outcome = passed === null ? "unasked" : passed ? "passed" : "failed";
  const entry = make("li", make("strong", `${name} ${OUTCOMES[outcome]}`), `: ${detail}`);
  entry.dataset.outcome = outcome;
  return entry;
}
