/** The form: how it is measured. */
import { nativeWords, type NativeInfo } from "../../engine/native.js";
import { limitCount, readCount } from "../../shell/number.js";
import { find } from "../../shell/page.js";
import type { NUMBERS, Settings } from "./settings.js";

/** The form of the view. */
export class Form {
  readonly #root: HTMLElement;

  /** `onChange` hears of new settings, `onSubmit` that they are to be used. */
  constructor(root: HTMLElement, settings: Settings, onChange: () => void, onSubmit: () => void) {
    this.#root = root;
    const form = find(root, "form", HTMLFormElement);
    find(root, "#bench-engine", HTMLSelectElement).value = settings.engine;
    find(root, "#bench-version", HTMLSelectElement).value = String(settings.version);
    for (const name of names()) this.#input(name).value = String(settings[name]);
    form.addEventListener("change", onChange);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      onSubmit();
    });
  }

  /** What is asked for, or nothing, and the field that is wrong has the keyboard. */
  read(): Settings | undefined {
    const values = names().map((name) => readCount(this.#input(name)));
    const [threads, lanes, seconds] = values;
    if (threads === undefined || lanes === undefined || seconds === undefined) {
      this.#input(names()[values.indexOf(undefined)] ?? "threads").focus();
      return undefined;
    }
    const engine = find(this.#root, "#bench-engine", HTMLSelectElement).value;
    const version = find(this.#root, "#bench-version", HTMLSelectElement).value === "2" ? 2 : 1;
    const chosen = engine === "jit" || engine === "interpreter" ? engine : "auto";
    return { engine: chosen, version, threads, lanes, seconds };
  }

  /** Says whether the native build is there. */
  tell(native: NativeInfo | undefined): void {
    const words = nativeWords(
      native,
      "It is measured after the browser, so that neither slows the other down.",
    );
    find(this.#root, '[data-part="native"]', HTMLElement).textContent = words;
    if (native) limitCount(this.#input("threads"), native.limits.threads);
  }

  /** Lets nothing be started while something runs. */
  set disabled(isDisabled: boolean) {
    find(this.#root, "[type=submit]", HTMLButtonElement).disabled = isDisabled;
  }

  #input(name: keyof typeof NUMBERS): HTMLInputElement {
    return find(this.#root, `#bench-${name}`, HTMLInputElement);
  }
}

function names(): readonly (keyof typeof NUMBERS)[] {
  return ["threads", "lanes", "seconds"];
}
