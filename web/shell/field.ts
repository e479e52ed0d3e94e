/** A field of the form, with the sentence that says what is wrong with it. */
import { RandomXError } from "../../wasm/js/index.js";
import { find } from "./page.js";

/** Throws an `invalid-argument` for a text that the field may not hold. */
export type Check = (name: string, text: string) => unknown;

/** How a field differs from others. */
export interface FieldOptions {
  /** Whether it may be left empty. */
  optional?: boolean;
}

/** An input and the error beside it. */
export class Field {
  readonly #input: HTMLTextAreaElement;
  readonly #error: HTMLElement;
  readonly #name: string;
  readonly #check: Check;
  readonly #optional: boolean;

  /** The field of the element with this id; its label names it, and `#id-error` is what it says. */
  constructor(id: string, check: Check, { optional = false }: FieldOptions = {}) {
    this.#input = find(document, `textarea#${id}`, HTMLTextAreaElement);
    this.#error = find(document, `#${id}-error`, HTMLElement);
    this.#name = find(document, `label[for="${id}"]`, HTMLElement).textContent.trim();
    this.#check = check;
    this.#optional = optional;
    this.#input.addEventListener("input", () => {
      this.complain("");
    });
  }

  /** The text without the white space that pasting brings, or `undefined` where it is wrong. */
  read(): string | undefined {
    const text = this.#input.value.replace(/\s/gu, "");
    try {
      if (text === "" && this.#optional) {
        this.complain("");
        return text;
      }
      if (text === "") throw new RandomXError("invalid-argument", `${this.#name}: is missing`);
      this.#check(this.#name, text);
    } catch (error) {
      if (!(error instanceof RandomXError)) throw error;
      this.complain(`${error.message}.`);
      return undefined;
    }
    this.complain("");
    return text;
  }

  /** Puts a text into the field. */
  write(text: string): void {
    this.#input.value = text;
    this.complain("");
  }

  /** Moves the keyboard to the field. */
  focus(): void {
    this.#input.focus();
  }

  /** Says what is wrong with the text, or nothing. */
  complain(sentence: string): void {
    this.#error.textContent = sentence;
    this.#input.setAttribute("aria-invalid", String(sentence !== ""));
  }
}
