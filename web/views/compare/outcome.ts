/** The outcome of a comparison: a verdict in words, and the summary. */
import { plural, whole } from "../../shell/words.js";
import { summarise } from "./summary.js";
import type { Results } from "./table.js";

/** The pause after a change, in milliseconds, before screen readers read a new verdict. */
const PAUSE_MS = 1000;

/** Shows the outcome in the verdict's element and the summary's. */
export class Outcome {
  readonly #verdict: HTMLElement;
  readonly #summary: HTMLElement;
  #results: Results | undefined;
  #isCancelled = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #stopPlot: () => void = () => undefined;

  constructor(verdict: HTMLElement, summary: HTMLElement) {
    this.#verdict = verdict;
    this.#summary = summary;
  }

  /** Hides the earlier outcome, and expects the results of a new comparison. */
  begin(results: Results): void {
    this.close();
    this.#results = results;
    this.#isCancelled = false;
    this.#verdict.hidden = true;
    this.#summary.hidden = true;
    // Until the end the words may change each second, which would interrupt screen readers.
    this.#verdict.ariaLive = "off";
  }

  /** Updates the outcome a second after the visitor's last edit. */
  edited(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#show();
    }, PAUSE_MS);
  }

  /** Updates an outcome that is shown already, within a second after new results. Without an edit there is none. */
  changed(): void {
    if (!this.#verdict.hidden && this.#timer === undefined) this.edited();
  }

  /** Shows the outcome at the end of the comparison. */
  end(isCancelled: boolean): void {
    clearTimeout(this.#timer);
    this.#isCancelled = isCancelled;
    this.#verdict.ariaLive = null;
    this.#show();
  }

  /** Stops showing changes. */
  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#stopPlot();
  }

  #show(): void {
    this.#timer = undefined;
    if (!this.#results) return;
    const { state, words } = verdict(this.#results, this.#isCancelled);
    this.#verdict.hidden = false;
    this.#verdict.dataset.state = state;
    // Screen readers read even the same words when they are written again.
    if (this.#verdict.textContent !== words) this.#verdict.textContent = words;
    this.#stopPlot();
    this.#summary.hidden = false;
    this.#stopPlot = summarise(this.#summary, this.#results);
  }
}

function verdict(results: Results, isCancelled: boolean): { state: string; words: string } {
  const totals = results.columns.map((column) => ({ column, total: results.total(column) }));
  const sum = (of: "right" | "wrong" | "failed"): number =>
    totals.reduce((all, { total }) => all + total[of], 0);
  const asked = results.vectors.length * results.columns.length;
  const [right, wrong, failed] = [sum("right"), sum("wrong"), sum("failed")];
  const state = wrong + failed > 0 ? "invalid" : right === asked ? "valid" : "open";
  const hashes = results.file === undefined ? "hashes" : `hashes of ${results.file}`;
  const builds = totals
    .filter(({ total }) => total.wrong > 0)
    .map(({ column }) => column.label)
    .join("; ");
  const words =
    wrong > 0
      ? `${whole(wrong)} of ${whole(asked)} ${hashes} are wrong: ${builds}.`
      : failed > 0
        ? `${whole(failed)} of ${whole(asked)} ${hashes} could not be computed: ${reason(results)}`
        : right === asked
          ? `All ${whole(asked)} ${hashes} are right: ${plural(results.vectors.length, "vector")} in ${plural(totals.length, "build")}.`
          : `${whole(right)} of ${whole(asked)} ${hashes} are right${isCancelled ? "; the rest was cancelled" : " so far"}.`;
  return { state, words };
}

/** Returns why the first hash could not be computed. */
function reason(results: Results): string {
  for (const { name } of results.columns) {
    for (const row of results.vectors.keys()) {
      const cell = results.cell(name, row);
      if (cell.state === "failed") return cell.why;
    }
  }
  return "the reason is not known.";
}
