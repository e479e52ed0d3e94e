/** A field of a form, and its error message. */
import { invalidArgument, RandomXError } from "../../wasm/js/errors.js";
import { find } from "./page.js";

/** Throws `invalid-argument` for an invalid text. */
export type Check = (name: string, text: string) => unknown;

/** Options of a field. */
export interface FieldOptions {
  /** Whether it may be left empty. */
  optional?: boolean;
  /** Whether white space has a meaning, as between addresses. */
  spaces?: boolean;
}

/** An input, and the error beside it. */
export class Field {
  readonly #input: HTMLTextAreaElement;
  readonly #error: HTMLElement;
  readonly #name: string;
  readonly #check: Check;
  readonly #optional: boolean;
  readonly #spaces: boolean;

  /** Wraps the text area `#id`, which has a label and the error element `#id-error`. */
  constructor(id: string, check: Check, options: FieldOptions = {}) {
    this.#input = find(document, `textarea#${id}`, HTMLTextAreaElement);
    this.#error = find(document, `#${id}-error`, HTMLElement);
    this.#name = find(document, `label[for="${id}"]`, HTMLElement).textContent.trim();
    this.#check = check;
    this.#optional = options.optional ?? false;
    this.#spaces = options.spaces ?? false;
    this.#input.addEventListener("input", () => {
      this.showError("");
    });
    // A text area shows a long text whole; an input of one line would not.
    const isLine = this.#input.rows === 1 && !this.#spaces;
    this.#input.addEventListener("keydown", (event) => {
      if (!isLine || event.key !== "Enter" || event.isComposing) return;
      event.preventDefault();
      this.#input.form?.requestSubmit();
    });
  }

  /** The text, without white space unless that has a meaning. */
  get text(): string {
    return this.#input.value.replace(/\s+/gu, this.#spaces ? " " : "").trim();
  }

  /** Returns the text, or `undefined` if it is invalid. */
  read(): string | undefined {
    const { text } = this;
    try {
      if (text === "" && this.#optional) {
        this.showError("");
        return text;
      }
      if (text === "") throw invalidArgument(this.#name, "expected a value, got nothing");
      this.#check(this.#name, text);
    } catch (error) {
      if (!(error instanceof RandomXError)) throw error;
      this.showError(`${error.message}.`);
      return undefined;
    }
    this.showError("");
    return text;
  }

  /** Writes a text into the field. */
  write(text: string): void {
    this.#input.value = text;
    this.showError("");
  }

  /** Focuses the field. */
  focus(): void {
    this.#input.focus();
  }

  /** Shows an error, or removes it if `sentence` is empty. */
  showError(sentence: string): void {
    this.#error.textContent = sentence;
    this.#input.setAttribute("aria-invalid", String(sentence !== ""));
  }
}
