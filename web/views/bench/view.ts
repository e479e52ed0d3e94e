/** The view Bench: hashes per second, the phases of a hash, and the rates of its parts. */
import { workFailure } from "../../engine/failure.js";
import { nativeBench, nativeInfo, type NativeInfo, type NativeRow } from "../../engine/native.js";
import { place } from "../../plot/figure.js";
import { bars, legend, line } from "../../plot/plots.js";
import { abortedWith } from "../../shell/abort.js";
import { copyButton } from "../../shell/copy.js";
import { find, fragment, isDisabled, setDisabled, swap } from "../../shell/page.js";
import { problem } from "../../shell/problem.js";
import { ProgressBar } from "../../shell/progress.js";
import { link, remember } from "../../shell/router.js";
import type { View } from "../../shell/view.js";
import { Form } from "./form.js";
import { SOURCE, writeTable } from "./micro.js";
import { measureParts, type Parts } from "./parts.js";
import { measureBrowser, measureNative, type Browser, type Rate } from "./rate.js";
import { readSettings, writeSettings } from "./settings.js";
import html from "./view.html?raw";
import "./style.css";

/** Seconds for measuring all parts of the native build. */
const NATIVE_SECONDS = 15;

/** The approximate number of rows that the server sends. */
const NATIVE_ROWS = 14;

const PHASES = {
  fill: "fill the scratchpad",
  generate: "generate programs",
  compile: "compile programs",
  execute: "run programs",
  items: "compute dataset items",
  finish: "hash the scratchpad",
} as const;

export const view: View = {
  name: "bench",
  title: "Bench",
  mount(root, query) {
    root.append(fragment(html));
    const bench = new Bench(root, query);
    return {
      unmount() {
        bench.end();
      },
    };
  },
};

/** The open view. */
class Bench {
  readonly #root: HTMLElement;
  readonly #form: Form;
  readonly #end = new AbortController();
  readonly #rates = new Map<string, Rate>();
  readonly #plots = new Map<string, () => void>();
  #native: NativeInfo | undefined;
  #browser: Browser | undefined;
  #parts: Parts = {};
  #rows: NativeRow[] = [];
  #isBusy = false;

  constructor(root: HTMLElement, query: URLSearchParams) {
    this.#root = root;
    this.#form = new Form(
      root,
      readSettings(query),
      () => {
        const settings = this.#form.read();
        if (settings) remember("bench", writeSettings(settings));
      },
      () => void this.#measure(),
    );
    const address = (): string => {
      const settings = this.#form.submit();
      return settings ? link("bench", writeSettings(settings)) : location.href;
    };
    this.#part("link").replaceWith(copyButton("to these settings", address, "Copy link"));
    this.#part("source").textContent = SOURCE;
    this.#nativeButton.addEventListener("click", () => {
      if (!isDisabled(this.#nativeButton)) void this.#measureParts();
    });
    this.#writeTable();
    void this.#findNative();
  }

  /** Aborts all work, and frees its memory. */
  end(): void {
    this.#end.abort();
    for (const stop of this.#plots.values()) stop();
  }

  async #findNative(): Promise<void> {
    this.#native = await nativeInfo(this.#end.signal);
    if (this.#end.signal.aborted) return;
    this.#form.showNative(this.#native);
    setDisabled(this.#nativeButton, this.#isBusy || !this.#native);
  }

  /** Measures the browser's build, then the native one. */
  async #measure(): Promise<void> {
    const settings = this.#isBusy ? undefined : this.#form.submit();
    if (!settings) return;
    remember("bench", writeSettings(settings));
    this.#rates.clear();
    for (const part of ["verdict", "rate", "phases"]) this.#part(part).hidden = true;
    const again = (): void => void this.#measure();
    await this.#work("task", "Measuring", again, async (bar, signal) => {
      const all = 1000 * settings.seconds * (this.#native ? 2 : 1);
      const follow = (name: string, before: number): ((rate: Rate) => void) => {
        return (rate) => {
          this.#rates.set(name, rate);
          this.#drawRates();
          const [seconds] = rate.points.at(-1) ?? [0];
          bar.set((before + 1000 * seconds) / all);
        };
      };
      const onRate = follow("this browser", 0);
      this.#browser = await measureBrowser(settings, { signal, onRate });
      onRate(this.#browser.rate);
      this.#drawPhases(this.#browser);
      this.#writeTable();
      let native: Rate | undefined;
      try {
        await measureParts(signal, (parts) => {
          this.#parts = parts;
          this.#writeTable();
        });
        if (this.#native) {
          const onNative = follow("this machine, natively", all / 2);
          native = await measureNative(settings, { signal, onRate: onNative });
          onNative(native);
        }
      } finally {
        // The browser's rate is complete, even if the rest fails or is cancelled.
        this.#showVerdict(this.#browser, native);
      }
    });
  }

  /** Measures the parts of the native build. */
  async #measureParts(): Promise<void> {
    if (this.#isBusy) return;
    this.#rows = [];
    const again = (): void => void this.#measureParts();
    await this.#work("native-task", "Measuring the native build", again, async (bar, signal) => {
      await nativeBench(
        NATIVE_SECONDS,
        (row) => {
          this.#rows.push(row);
          bar.set(this.#rows.length / NATIVE_ROWS);
          this.#writeTable();
        },
        { signal },
      );
      bar.set(1);
    });
  }

  /**
   * Does long work, and shows a progress bar with a cancel button in a part of the page. After a failure
   * a button calls `again`.
   */
  async #work(
    part: "task" | "native-task",
    label: string,
    again: () => void,
    work: (bar: ProgressBar, signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    const cancel = abortedWith(this.#end.signal);
    const { signal } = cancel;
    const onCancel = (): void => {
      cancel.abort();
    };
    const bar = new ProgressBar({ label, onCancel });
    const task = this.#part(part);
    task.hidden = false;
    swap(task, bar.element);
    this.#setBusy(true);
    try {
      await work(bar, signal);
      bar.set(1);
      bar.end("done");
    } catch (thrown) {
      if (this.#end.signal.aborted) return;
      const words = await workFailure(thrown);
      if (signal.aborted) bar.end("cancelled");
      else swap(task, problem(`The measurement failed: ${words}`, again));
    }
    this.#setBusy(false);
  }

  /** Prevents a start while something is measured. */
  #setBusy(isBusy: boolean): void {
    this.#isBusy = isBusy;
    this.#form.disabled = isBusy;
    setDisabled(this.#nativeButton, isBusy || !this.#native);
    for (const again of this.#root.querySelectorAll<HTMLButtonElement>(".problem button")) {
      setDisabled(again, isBusy);
    }
  }

  #drawRates(): void {
    this.#part("rate").hidden = false;
    const series = [...this.#rates].map(([name, { points }]) => ({ name, points }));
    this.#part("legend").replaceChildren(legend(series.map(({ name }) => name)));
    const most = Math.max(1, ...series.flatMap(({ points }) => points.map(([, rate]) => rate)));
    const labels = { caption: "Hashes per second over time", x: "seconds", y: "hashes per second" };
    this.#draw("rate-plot", (width) => line(labels, series, [0, 1.1 * most], width));
  }

  #drawPhases({ phases, version }: Browser): void {
    this.#part("phases").hidden = false;
    const caption = `Milliseconds of a v${version} hash on one thread of this browser, by phase`;
    const labels = { caption, x: "milliseconds", y: "phase" };
    const rows = Object.entries(PHASES).map(([phase, name]) => {
      return { name, value: phases[phase as keyof typeof PHASES] };
    });
    this.#draw("phases-plot", (width) => bars(labels, rows, width));
  }

  #draw(part: string, draw: Parameters<typeof place>[1]): void {
    this.#plots.get(part)?.();
    this.#plots.set(part, place(this.#part(part), draw));
  }

  #showVerdict({ version, engine, threads, lanes, rate }: Browser, native?: Rate): void {
    const verdict = this.#part("verdict");
    verdict.hidden = false;
    const workers = threads === 1 ? "one worker" : `${threads} workers`;
    const each = lanes === 1 ? "one lane" : `${lanes} lanes`;
    const times = native && rate.mean > 0 ? native.mean / rate.mean : 0;
    verdict.textContent =
      `RandomX v${version}: ${rate.mean.toFixed(1)} hashes per second in this browser` +
      ` (${engine === "jit" ? "JIT" : "interpreter"}, ${workers}, ${each})` +
      (native
        ? `, ${native.mean.toFixed(1)} natively, ${times.toFixed(1)} times as many.`
        : this.#native
          ? ". The native build was not measured to the end."
          : ". The native build is not available for comparison.");
  }

  #writeTable(): void {
    const table = find(this.#root, '[data-part="micro"]', HTMLTableElement);
    writeTable(table, this.#browser, this.#parts, this.#rows);
  }

  get #nativeButton(): HTMLButtonElement {
    return find(this.#root, '[data-part="measure-native"]', HTMLButtonElement);
  }

  #part(name: string): HTMLElement {
    return find(this.#root, `[data-part="${name}"]`, HTMLElement);
  }
}
