/** The form with the settings of a measurement. */
import { describeNative, type NativeInfo } from "../../engine/native.js";
import { checkCount, focusInvalid, limitCount, readCount } from "../../shell/number.js";
import { showIsolation } from "../../shell/isolation.js";
import { find, isDisabled, setDisabled } from "../../shell/page.js";
import type { NUMBERS, Settings } from "./settings.js";

/** The view's form. */
export class Form {
  readonly #root: HTMLElement;

  /** Calls `onChange` after a change of the settings, and `onSubmit` to measure with them. */
  constructor(root: HTMLElement, settings: Settings, onChange: () => void, onSubmit: () => void) {
    this.#root = root;
    const form = find(root, "form", HTMLFormElement);
    find(root, "#bench-engine", HTMLSelectElement).value = settings.engine;
    find(root, "#bench-version", HTMLSelectElement).value = String(settings.version);
    for (const name of names()) this.#input(name).value = String(settings[name]);
    showIsolation(root);
    form.addEventListener("change", onChange);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (!isDisabled(this.#submit)) onSubmit();
    });
  }

  /** Returns the settings, or shows what is wrong, focuses the first invalid field, and returns nothing. */
  submit(): Settings | undefined {
    for (const name of names()) checkCount(this.#input(name));
    const settings = this.read();
    if (!settings) focusInvalid(this.#root);
    return settings;
  }

  /** Returns the settings, or nothing if a number is invalid. */
  read(): Settings | undefined {
    const [threads, lanes, seconds] = names().map((name) => readCount(this.#input(name)));
    if (threads === undefined || lanes === undefined || seconds === undefined) return undefined;
    const engine = find(this.#root, "#bench-engine", HTMLSelectElement).value;
    const version = find(this.#root, "#bench-version", HTMLSelectElement).value === "2" ? 2 : 1;
    const chosen = engine === "jit" || engine === "interpreter" ? engine : "auto";
    return { engine: chosen, version, threads, lanes, seconds };
  }

  /** Shows whether the native build is available. */
  showNative(native: NativeInfo | undefined): void {
    const words = describeNative(
      native,
      "It is measured after the browser, so that neither slows the other down.",
    );
    find(this.#root, '[data-part="native"]', HTMLElement).textContent = words;
    if (native) limitCount(this.#input("threads"), native.limits.threads);
  }

  /** Prevents a start while something runs. The button keeps the focus. */
  set disabled(isDisabled: boolean) {
    setDisabled(this.#submit, isDisabled);
  }

  get #submit(): HTMLButtonElement {
    return find(this.#root, "[type=submit]", HTMLButtonElement);
  }

  #input(name: keyof typeof NUMBERS): HTMLInputElement {
    return find(this.#root, `#bench-${name}`, HTMLInputElement);
  }
}

function names(): readonly (keyof typeof NUMBERS)[] {
  return ["threads", "lanes", "seconds"];
}
