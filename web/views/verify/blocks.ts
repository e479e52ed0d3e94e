/** The blocks of a chain as they are verified; each can be looked at in the report. */
import type { ChainVerdict } from "../../../wasm/js/index.js";
import { find, make } from "../../shell/page.js";
import { ProgressBar } from "../../shell/progress.js";
import { hex, whole } from "../../shell/words.js";
import type { Report } from "./report.js";
import type { Subject } from "./subject.js";

/** The list below the node's form. */
export class Blocks {
  /** Called when the visitor wants an end. */
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
      label: "Blocks that are verified",
      onCancel: () => {
        this.onStop();
      },
      cancelLabel: "Stop",
    });
    this.#verdict.before(this.#bar.element);
  }

  /** Forgets all blocks. */
  begin(words: string): void {
    this.#list.replaceChildren();
    this.#bar.reset();
    this.#enter("waiting", words);
  }

  /** Says how it goes, and how far it is. */
  tell(words: string, done?: number): void {
    if (done !== undefined) this.#bar.set(done);
    this.#enter("hashing", words);
  }

  /** Says what came of it. */
  end(state: "valid" | "invalid" | "cancelled" | "failed", words: string): void {
    this.#bar.end("");
    this.#enter(state, words);
  }

  /** Adds a block. The first one is shown, and one that is not valid, with all that was looked at. */
  add(verdict: ChainVerdict, subject: Subject | undefined): void {
    const { height, id, valid } = verdict;
    const name = make("code", id ? hex(id) : "no id");
    const words = `${whole(height)} ${valid ? "valid" : "not valid"} `;
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
