/** The view Compare: the same vectors in every build of this browser and this machine. */
import { nativeInfo, type NativeInfo } from "../../engine/native.js";
import { abortedWith } from "../../shell/abort.js";
import { copyButton } from "../../shell/copy.js";
import { download } from "../../shell/download.js";
import { takeDrops } from "../../shell/drop.js";
import { find, fragment, swap } from "../../shell/page.js";
import { problem } from "../../shell/problem.js";
import { ProgressBar } from "../../shell/progress.js";
import { link, remember } from "../../shell/router.js";
import type { View } from "../../shell/view.js";
import { COLUMNS } from "./columns.js";
import { asCsv, asJson } from "./export.js";
import { Form, type Choice } from "./form.js";
import { Outcome } from "./outcome.js";
import { Rows } from "./rows.js";
import { run } from "./run.js";
import { readSettings, writeSettings } from "./settings.js";
import { Results } from "./table.js";
import { SETS } from "./vectors.js";
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
  readonly #outcome: Outcome;
  readonly #end = new AbortController();
  readonly #stopTaking: () => void;
  #native: NativeInfo | undefined;
  #results: Results | undefined;

  constructor(root: HTMLElement, query: URLSearchParams) {
    this.#root = root;
    this.#outcome = new Outcome(this.#part("verdict"), this.#part("summary"));
    this.#form = new Form(
      root,
      readSettings(query),
      () => {
        this.#remember();
        copyLink.hidden = this.#form.hasFile;
      },
      () => {
        // The visitor may have left the view while the form waited.
        if (!this.#end.signal.aborted) void this.#compare();
      },
    );
    const address = (): string => {
      const choice = this.#form.submit();
      return choice ? link("compare", writeSettings(choice.settings)) : location.href;
    };
    const copyLink = copyButton("to these settings", address, "Copy link");
    this.#part("link").replaceWith(copyLink);
    this.#part("json").addEventListener("click", () => {
      if (!this.#results) return;
      download("randomx-compare.json", "application/json", asJson(this.#results, this.#native));
    });
    this.#part("csv").addEventListener("click", () => {
      if (this.#results) download("randomx-compare.csv", "text/csv", asCsv(this.#results));
    });
    this.#stopTaking = takeDrops((file) => {
      this.#form.choose(file);
    });
    // Without it the form does not know which builds there are.
    this.#form.waitFor(this.#findNative());
  }

  /** Aborts all work, and frees its memory. */
  end(): void {
    this.#end.abort();
    this.#stopTaking();
    this.#outcome.close();
  }

  async #findNative(): Promise<void> {
    this.#native = await nativeInfo(this.#end.signal);
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
    const cancel = abortedWith(this.#end.signal);
    const { signal } = cancel;
    const bar = new ProgressBar({
      label: "Comparing",
      onCancel: () => {
        cancel.abort();
      },
    });
    const task = this.#part("task");
    task.hidden = false;
    task.removeAttribute("data-done");
    swap(task, bar.element);
    this.#part("status").scrollIntoView({ block: "nearest" });
    try {
      await this.#run(await this.#load(choice, signal), bar, signal);
      task.setAttribute("data-done", "");
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
  }

  /** Loads the chosen vectors, for the chosen columns. */
  async #load({ settings, file }: Choice, signal: AbortSignal): Promise<Results> {
    const { threads, lanes, times } = settings;
    const columns = COLUMNS.filter(({ name }) => settings.columns.includes(name));
    if (columns.length === 0) throw new Error("Choose a build to compare.");
    const setup = { threads, lanes, times };
    if (file) return new Results(file.vectors, columns, setup, file.name);
    const sets = SETS.filter(({ name }) => settings.sets.includes(name));
    if (sets.length === 0) throw new Error("Choose vectors to compare.");
    const vectors = (await Promise.all(sets.map(({ load }) => load(signal)))).flat();
    return new Results(vectors, columns, setup);
  }

  async #run(results: Results, bar: ProgressBar, signal: AbortSignal): Promise<void> {
    this.#results = results;
    this.#part("results").hidden = false;
    this.#outcome.begin(results);
    const table = find(this.#root, '[data-part="rows"]', HTMLTableElement);
    const rows = new Rows(table, results, () => {
      this.#outcome.edited();
    });
    const changed = (column: string, numbers: readonly number[]): void => {
      rows.changed(column, numbers);
      this.#outcome.changed();
    };
    const progress = (done: number, all: number): void => {
      bar.set(done / all);
    };
    try {
      await rows.write(signal);
      await run(results, { changed, progress }, signal);
    } finally {
      if (!this.#end.signal.aborted) this.#outcome.end(signal.aborted);
    }
  }

  #part(name: string): HTMLElement {
    return find(this.#root, `[data-part="${name}"]`, HTMLElement);
  }
}
