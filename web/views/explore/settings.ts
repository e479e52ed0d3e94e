/** The view's settings, in its form and in its address. */
import { invalidArgument } from "../../../wasm/js/errors.js";
import { bytes as parseBytes } from "../../../wasm/js/validate.js";
import { find } from "../../shell/page.js";
import type { Subject } from "../../engine/explorer/protocol.js";

/** The settings of the view. */
export interface Settings extends Subject {
  /** 0 to 7. */
  program: number;
  hashes: number;
}

/** The defaults of the form's fields, by their names in addresses. */
const FIELDS = {
  key: "test key 000",
  input: "This is a test",
  version: "1",
  program: "1",
  hashes: "16",
};

/** The fields with bytes, as their labels name them. */
const LABELS = { key: "Key", input: "Input" };

type Name = keyof typeof FIELDS;

const NAMES = Object.keys(FIELDS) as Name[];

/** The form, with errors beside its fields. */
export class Form {
  readonly #root: HTMLElement;

  constructor(root: HTMLElement) {
    this.#root = root;
  }

  /** Fills the form from an address. Missing and invalid fields get their defaults. */
  fill(query: URLSearchParams): void {
    for (const name of NAMES) {
      const field = this.#field(name);
      field.value = query.get(name) ?? FIELDS[name];
      if (field.value === "") field.value = FIELDS[name];
      this.#showError(name, "");
    }
  }

  /** Returns the settings that differ from the defaults, for an address. */
  query(): URLSearchParams {
    const values = NAMES.map((name) => [name, this.#field(name).value] as const);
    return new URLSearchParams(
      values
        .filter(([name, value]) => value !== FIELDS[name])
        .map(([name, value]) => [name, value]),
    );
  }

  /** Returns the settings, or focuses the first invalid field and returns nothing. */
  read(): Settings | undefined {
    const key = this.#bytes("key");
    const input = this.#bytes("input");
    if (!key || !input) {
      this.#field(key ? "input" : "key").focus();
      return undefined;
    }
    const number = (name: Name): number => Number(this.#field(name).value);
    const version = number("version") === 2 ? 2 : 1;
    return { key, input, version, program: number("program") - 1, hashes: number("hashes") };
  }

  #bytes(name: "key" | "input"): Uint8Array<ArrayBuffer> | undefined {
    const text = this.#field(name).value;
    try {
      const bytes = readBytes(LABELS[name], text);
      this.#showError(name, "");
      return bytes;
    } catch (error) {
      this.#showError(name, error instanceof Error ? `${error.message}.` : String(error));
      return undefined;
    }
  }

  #showError(name: Name, sentence: string): void {
    const error = this.#root.querySelector(`#explore-${name}-error`);
    if (!error) return;
    error.textContent = sentence;
    this.#field(name).ariaInvalid = String(sentence !== "");
  }

  #field(name: Name): HTMLInputElement | HTMLSelectElement {
    const kind = name === "key" || name === "input" ? HTMLInputElement : HTMLSelectElement;
    return find<HTMLInputElement | HTMLSelectElement>(this.#root, `#explore-${name}`, kind);
  }
}

/** Reads a text as UTF-8, or as hex after `0x`. */
function readBytes(name: string, text: string): Uint8Array<ArrayBuffer> {
  if (text === "") throw invalidArgument(name, "expected a value, got nothing");
  // Checks the length in either case.
  return parseBytes(name, text.startsWith("0x") ? text.slice(2) : new TextEncoder().encode(text));
}
