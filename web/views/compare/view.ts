/** The view Compare: the same vectors in every build of this browser and this machine. */
import { nativeInfo, type NativeInfo } from "../../engine/native.js";
import { copyButton } from "../../shell/copy.js";
import { download } from "../../shell/download.js";
import { find, fragment, swap } from "../../shell/page.js";
import { problem } from "../../shell/problem.js";
import { ProgressBar } from "../../shell/progress.js";
import { link, remember } from "../../shell/router.js";
import type { View } from "../../shell/view.js";
import { whole } from "../../shell/words.js";
import { COLUMNS } from "./columns.js";
import { asCsv, asJson } from "./export.js";
import { Form, type Choice } from "./form.js";
import { Rows } from "./rows.js";
import { run } from "./run.js";
import { readSettings, writeSettings } from "./settings.js";
import { summarise } from "./summary.js";
import { Results } from "./table.js";
import { SETS, type Vector } from "./vectors.js";
import html from "./view.html?raw";
import "./style.css";

export const view: View = {
  name: "compare",
  title: "Compare",
  mount(root, query) {
    root.append(fragment(html));
    const comparison = new Comparison(root, query);
    return {
      unmount() {
        comparison.end();
      },
    };
  },
};

/** The open view. */
class Comparison {
  readonly #root: HTMLElement;
  readonly #form: Form;
  readonly #end = new AbortController();
  #native: NativeInfo | undefined;
  #results: Results | undefined;
  #stopPlot: () => void = () => undefined;

  constructor(root: HTMLElement, query: URLSearchParams) {
    this.#root = root;
    this.#form = new Form(
      root,
      readSettings(query),
      () => {
        this.#remember();
      },
      () => void this.#compare(),
    );
    const address = (): string => {
      const choice = this.#form.read();
      return choice ? link("compare", writeSettings(choice.settings)) : location.href;
    };
    this.#part("link").replaceWith(copyButton("to these settings", address, "Copy link"));
    this.#part("json").addEventListener("click", () => {
      if (!this.#results) return;
      download("randomx-compare.json", "application/json", asJson(this.#results, this.#native));
    });
    this.#part("csv").addEventListener("click", () => {
      if (this.#results) download("randomx-compare.csv", "text/csv", asCsv(this.#results));
    });
    void this.#findNative();
  }

  /** Aborts all work, and frees its memory. */
  end(): void {
    this.#end.abort();
    this.#stopPlot();
  }

  async #findNative(): Promise<void> {
    this.#native = await nativeInfo(this.#end.signal).catch(() => undefined);
    if (!this.#end.signal.aborted) this.#form.showNative(this.#native);
  }

  #remember(): void {
    const choice = this.#form.read();
    if (choice) remember("compare", writeSettings(choice.settings));
  }

  async #compare(): Promise<void> {
    const choice = this.#form.submit();
    if (!choice) return;
    remember("compare", writeSettings(choice.settings));
    this.#form.disabled = true;
    const cancel = new AbortController();
    const signal = AbortSignal.any([cancel.signal, this.#end.signal]);
    const bar = new ProgressBar({
      label: "Comparing",
      onCancel: () => {
        cancel.abort();
      },
    });
    const task = this.#part("task");
    task.hidden = false;
    swap(task, bar.element);
    this.#part("status").scrollIntoView({ block: "nearest" });
    try {
      await this.#run(await this.#load(choice), bar, signal);
    } catch (thrown) {
      if (this.#end.signal.aborted) return;
      const words = thrown instanceof Error ? thrown.message : String(thrown);
      if (!signal.aborted)
        swap(
          task,
          problem(words, () => void this.#compare()),
        );
    }
    this.#form.disabled = false;
    bar.end(signal.aborted ? "cancelled" : "done");
    this.#showOutcome(signal.aborted);
  }

  /** Loads the chosen vectors, for the chosen columns. */
  async #load({ settings, file }: Choice): Promise<Results> {
    const { threads, lanes, times } = settings;
    const columns = COLUMNS.filter(({ name }) => settings.columns.includes(name));
    if (columns.length === 0) throw new Error("Choose a build to compare.");
    let vectors: Vector[] = file ?? [];
    if (!file) {
      const sets = SETS.filter(({ name }) => settings.sets.includes(name));
      if (sets.length === 0) throw new Error("Choose vectors to compare.");
      vectors = (await Promise.all(sets.map(({ load }) => load()))).flat();
    }
    return new Results(vectors, columns, { threads, lanes, times });
  }

  async #run(results: Results, bar: ProgressBar, signal: AbortSignal): Promise<void> {
    this.#results = results;
    this.#part("results").hidden = false;
    this.#part("verdict").hidden = true;
    this.#part("summary").hidden = true;
    const table = find(this.#root, '[data-part="rows"]', HTMLTableElement);
    const rows = new Rows(table, results, () => {
      this.#showOutcome(false);
    });
    await rows.write(signal);
    await run(
      results,
      {
        changed: (column, changed) => {
          rows.changed(column, changed);
        },
        progress: (done, all) => {
          bar.set(done / all);
        },
      },
      signal,
    );
  }

  /** Shows the outcome so far. */
  #showOutcome(isCancelled: boolean): void {
    const results = this.#results;
    if (!results) return;
    const totals = results.columns.map((column) => ({ column, total: results.total(column) }));
    const sum = (of: "right" | "wrong" | "failed"): number =>
      totals.reduce((all, { total }) => all + total[of], 0);
    const asked = results.vectors.length * results.columns.length;
    const verdict = this.#part("verdict");
    verdict.hidden = false;
    const [right, wrong, failed] = [sum("right"), sum("wrong"), sum("failed")];
    verdict.parentElement?.setAttribute("data-compared", "");
    verdict.dataset.state = wrong + failed > 0 ? "invalid" : right === asked ? "valid" : "open";
    const builds = totals
      .filter(({ total }) => total.wrong > 0)
      .map(({ column }) => column.label)
      .join("; ");
    verdict.textContent =
      wrong > 0
        ? `${whole(wrong)} of ${whole(asked)} hashes are wrong: ${builds}.`
        : failed > 0
          ? `${whole(failed)} of ${whole(asked)} hashes could not be computed: ${reason(results)}.`
          : right === asked
            ? `All ${whole(asked)} hashes are right: ${plural(results.vectors.length, "vector")} in ${plural(totals.length, "build")}.`
            : `${whole(right)} of ${whole(asked)} hashes are right${isCancelled ? "; the rest was cancelled" : " so far"}.`;
    this.#stopPlot();
    const summary = this.#part("summary");
    summary.hidden = false;
    this.#stopPlot = summarise(summary, results);
  }

  #part(name: string): HTMLElement {
    return find(this.#root, `[data-part="${name}"]`, HTMLElement);
  }
}

/** Returns why the first hash could not be computed. */
function reason(results: Results): string {
  for (const { name } of results.columns) {
    for (const row of results.vectors.keys()) {
      const cell = results.cell(name, row);
      if (cell.state === "failed") return cell.why;
    }
  }
  return "the reason is not known";
}

function plural(count: number, what: string): string {
  return `${whole(count)} ${what}${count === 1 ? "" : "s"}`;
}
