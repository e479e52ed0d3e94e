/** The list of a chain's verified blocks; the report shows the selected one. */
import type { ChainVerdict } from "../../../wasm/js/index.js";
import { find, make } from "../../shell/page.js";
import { ProgressBar } from "../../shell/progress.js";
import { hex, whole } from "../../shell/words.js";
import type { Report } from "./report.js";
import type { Subject } from "./subject.js";

/** The list below the node's form. */
export class Blocks {
  /** Called when the visitor stops the run. */
  onStop: () => void = () => undefined;
  readonly #root: HTMLElement;
  readonly #report: Report;
  readonly #verdict: HTMLElement;
  readonly #list: HTMLOListElement;
  readonly #bar: ProgressBar;

  constructor(root: HTMLElement, report: Report) {
    this.#root = root;
    this.#report = report;
    this.#verdict = find(root, ".verdict", HTMLElement);
    this.#list = find(root, "ol.blocks", HTMLOListElement);
    this.#bar = new ProgressBar({
      label: "Verified blocks",
      onCancel: () => {
        this.onStop();
      },
      cancelLabel: "Stop",
    });
    this.#verdict.before(this.#bar.element);
  }

  /** Clears the list. */
  begin(words: string): void {
    this.#list.replaceChildren();
    this.#bar.reset();
    this.#enter("waiting", words);
  }

  /** Shows the state of the run, and its progress. */
  update(words: string, done?: number): void {
    if (done !== undefined) this.#bar.set(done);
    this.#enter("hashing", words);
  }

  /** Shows the outcome of the run. */
  end(state: "valid" | "invalid" | "cancelled" | "failed", words: string): void {
    this.#bar.end("");
    this.#enter(state, words);
  }

  /** Adds a block. The report shows the first block, and any that is invalid. */
  add(verdict: ChainVerdict, subject: Subject | undefined): void {
    const { height, id, valid } = verdict;
    const name = make("code", id ? hex(id) : "no id");
    const words = `${whole(height)} ${valid ? "valid" : "invalid"} `;
    const entry = make("li");
    entry.dataset.valid = String(valid);
    if (subject) {
      const open = make("button", words, name);
      open.type = "button";
      open.addEventListener("click", () => void this.#report.show(subject, verdict));
      entry.append(open);
      if (!valid || this.#list.childElementCount === 0) void this.#report.show(subject, verdict);
    } else {
      entry.append(words, name);
    }
    this.#list.append(entry);
  }

  #enter(state: string, words: string): void {
    this.#root.dataset.state = state;
    this.#verdict.textContent = words;
  }
}
