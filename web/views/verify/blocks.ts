/** The list of a chain's verified blocks; the report shows the selected one. */
import type { ChainVerdict } from "../../../wasm/js/index.js";
import { find, make } from "../../shell/page.js";
import { ProgressBar } from "../../shell/progress.js";
import { hex, whole } from "../../shell/words.js";
import type { Report } from "./report.js";
import type { Subject } from "./subject.js";

/** How a run ended. */
export interface Ending {
  state: "valid" | "invalid" | "cancelled" | "failed";
  words: string;
}

/** The list below the node's form. */
export class Blocks {
  /** Called when the visitor stops the run. */
  onStop: () => void = () => undefined;
  readonly #root: HTMLElement;
  readonly #report: Report;
  readonly #verdict: HTMLElement;
  /** The details of the progress, which change too often to be announced. */
  readonly #detail: HTMLElement;
  readonly #list: HTMLOListElement;
  readonly #bar: ProgressBar;
  /** The turn of the block in the report, if it is one of the list. */
  #turn = 0;

  constructor(root: HTMLElement, report: Report) {
    this.#root = root;
    this.#report = report;
    this.#verdict = find(root, ".verdict", HTMLElement);
    this.#detail = find(root, ".hint", HTMLElement);
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

  /** Clears the list, for a run that may show its blocks in the report. */
  begin(words: string): void {
    this.#turn = this.#report.takeTurn();
    this.#list.replaceChildren();
    this.#list.ariaBusy = "true";
    this.#bar.reset();
    this.#enter("waiting", words);
  }

  /** Shows the state of the run, and its progress. */
  update(words: string, detail: string, done?: number): void {
    if (done !== undefined) this.#bar.set(done);
    this.#enter("hashing", words);
    this.#detail.textContent = detail;
  }

  /** Shows the outcome of the run. */
  end({ state, words }: Ending): void {
    this.#bar.end("");
    this.#list.ariaBusy = null;
    this.#enter(state, words);
  }

  /**
   * Adds a block. The report shows the first block and any that is invalid, unless the visitor has
   * verified another one meanwhile.
   */
  add(verdict: ChainVerdict, subject: Subject | undefined): void {
    const { height, id, valid, status } = verdict;
    const name = make("code", id ? hex(id) : "no id");
    const words = `${whole(height)} ${status === "update-needed" ? "not decided" : status} `;
    const entry = make("li");
    entry.dataset.status = status;
    if (subject) {
      const open = make("button", words, name);
      open.type = "button";
      open.addEventListener("click", () => {
        this.#open(subject, verdict);
      });
      entry.append(open);
      const isShown = !valid || this.#list.childElementCount === 0;
      if (isShown && this.#turn === this.#report.turn) this.#open(subject, verdict);
    } else {
      entry.append(words, name);
    }
    this.#list.append(entry);
  }

  #open(subject: Subject, verdict: ChainVerdict): void {
    void this.#report.show(subject, verdict);
    this.#turn = this.#report.turn;
  }

  #enter(state: string, words: string): void {
    this.#root.dataset.state = state;
    this.#detail.textContent = "";
    // The same words again would be announced again.
    if (this.#verdict.textContent !== words) this.#verdict.textContent = words;
  }
}
