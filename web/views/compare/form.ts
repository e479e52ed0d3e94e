/** The form: builds, vectors, threads and lanes. */
import { describeNative, type NativeInfo } from "../../engine/native.js";
import { checkCount, focusInvalid, limitCount, readCount } from "../../shell/number.js";
import { showIsolation } from "../../shell/isolation.js";
import { find, isDisabled, make, setDisabled } from "../../shell/page.js";
import { COLUMNS } from "./columns.js";
import type { Settings } from "./settings.js";
import { readFile, SETS, type Vector } from "./vectors.js";

/** The vectors of a file. */
export interface OwnFile {
  name: string;
  vectors: Vector[];
}

/** The settings, and the file that replaces their sets, if one was chosen. */
export interface Choice {
  settings: Settings;
  file: OwnFile | undefined;
}

/** The view's form. */
export class Form {
  readonly #form: HTMLFormElement;
  readonly #threads: HTMLInputElement;
  readonly #lanes: HTMLInputElement;
  readonly #times: HTMLInputElement;
  readonly #file: HTMLInputElement;
  readonly #error: HTMLElement;
  #own: OwnFile | undefined;
  /** Settles when a comparison can begin. */
  #ready: Promise<unknown> = Promise.resolve();

  /** Calls `onChange` after a change of the settings or the file, and `onSubmit` to compare with them. */
  constructor(root: HTMLElement, settings: Settings, onChange: () => void, onSubmit: () => void) {
    this.#form = find(root, "form", HTMLFormElement);
    this.#threads = find(root, "#compare-threads", HTMLInputElement);
    this.#lanes = find(root, "#compare-lanes", HTMLInputElement);
    this.#times = find(root, "#compare-times", HTMLInputElement);
    this.#file = find(root, "#compare-file", HTMLInputElement);
    this.#error = find(root, "#compare-file-error", HTMLElement);
    const choices = (part: string, all: readonly { name: string; label: string }[]): void => {
      const boxes = all.map(({ name, label }) => choice(part, name, label));
      find(root, `[data-part="${part}"]`, HTMLElement).replaceChildren(...boxes);
    };
    choices("columns", COLUMNS);
    choices("sets", SETS);
    this.write(settings);
    showIsolation(this.#form);
    this.#form.addEventListener("change", ({ target }) => {
      if (target === this.#file) this.waitFor(this.#read());
      // Choosing a set drops the file.
      else if (this.#boxes("sets").some((box) => box === target)) this.#dropFile();
      onChange();
    });
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      const button = find(this.#form, "[type=submit]", HTMLButtonElement);
      if (isDisabled(button)) return;
      this.disabled = true;
      void this.#ready.then(() => {
        this.disabled = false;
        onSubmit();
      });
    });
  }

  /** Delays submissions until some work is done, which never fails. */
  waitFor(work: Promise<void>): void {
    this.#ready = Promise.all([this.#ready, work]);
  }

  /** Chooses a file, as if the visitor had done so in its field. */
  choose(file: File): void {
    const chosen = new DataTransfer();
    chosen.items.add(file);
    this.#file.files = chosen.files;
    find(this.#form, "details", HTMLDetailsElement).open = true;
    this.#file.dispatchEvent(new Event("change", { bubbles: true }));
  }

  /** Whether a file is chosen, which no address can name. */
  get hasFile(): boolean {
    return this.#file.value !== "";
  }

  /** Shows settings. */
  write({ columns, sets, threads, lanes, times }: Settings): void {
    for (const box of this.#boxes("columns")) box.checked = columns.includes(box.value);
    for (const box of this.#boxes("sets")) box.checked = sets.includes(box.value);
    this.#threads.value = String(threads);
    this.#lanes.value = String(lanes);
    this.#times.checked = times;
  }

  /** Returns the choice, or shows what is wrong, focuses the first invalid field, and returns nothing. */
  submit(): Choice | undefined {
    checkCount(this.#threads);
    checkCount(this.#lanes);
    const choice = this.read();
    if (!choice) {
      find(this.#form, "details", HTMLDetailsElement).open = true;
      focusInvalid(this.#form);
    }
    return choice;
  }

  /** Returns the choice, or nothing if it is invalid. */
  read(): Choice | undefined {
    const threads = readCount(this.#threads);
    const lanes = readCount(this.#lanes);
    const isFileWrong = this.#error.textContent !== "";
    if (threads === undefined || lanes === undefined || isFileWrong) return undefined;
    const checked = (part: string): string[] =>
      this.#boxes(part)
        .filter((box) => box.checked && !box.disabled)
        .map((box) => box.value);
    const numbers = { threads, lanes, times: this.#times.checked };
    const settings = { columns: checked("columns"), sets: checked("sets"), ...numbers };
    return { settings, file: this.#own };
  }

  /** Disables the builds that are not available, and shows why. */
  showNative(native: NativeInfo | undefined): void {
    const reasons = new Set<string>();
    for (const box of this.#boxes("columns")) {
      const reason = COLUMNS.find(({ name }) => name === box.value)?.missing(native);
      box.disabled = reason !== undefined;
      box.parentElement?.toggleAttribute("data-missing", box.disabled);
      if (reason) reasons.add((box.title = reason));
    }
    if (native) limitCount(this.#threads, native.limits.threads);
    const words = describeNative(
      native,
      "Fast mode computes a dataset of 2080 MiB for each key, and frees it afterwards.",
    );
    // Keyboards and fingers do not reach the title of a disabled box.
    const all = native ? [words, ...reasons] : [words];
    find(this.#form, '[data-part="native"]', HTMLElement).textContent = all.join(" ");
  }

  /** Prevents a start while something runs. The button keeps the focus. */
  set disabled(isDisabled: boolean) {
    setDisabled(find(this.#form, "[type=submit]", HTMLButtonElement), isDisabled);
  }

  #boxes(part: string): HTMLInputElement[] {
    return [...this.#form.querySelectorAll<HTMLInputElement>(`input[name="${part}"]`)];
  }

  async #read(): Promise<void> {
    const [file] = this.#file.files ?? [];
    this.#own = undefined;
    this.#showError("");
    try {
      const own = file && { name: file.name, vectors: await readFile(file) };
      // Another one may have been chosen meanwhile.
      if (file !== this.#file.files?.[0]) return;
      this.#own = own;
    } catch (error) {
      if (file !== this.#file.files?.[0]) return;
      this.#showError(`${error instanceof Error ? error.message : String(error)}.`);
      find(this.#form, "details", HTMLDetailsElement).open = true;
    }
  }

  #dropFile(): void {
    this.#file.value = "";
    this.#own = undefined;
    this.#showError("");
  }

  #showError(words: string): void {
    this.#error.textContent = words;
    this.#file.ariaInvalid = String(words !== "");
  }
}

function choice(group: string, name: string, label: string): HTMLLabelElement {
  const box = make("input");
  box.type = "checkbox";
  box.name = group;
  box.value = name;
  return make("label", box, label);
}
