/** What the view is asked to look at: in its form, and in its address. */
import { invalidArgument } from "../../../wasm/js/errors.js";
import { bytes as parseBytes } from "../../../wasm/js/validate.js";
import { find } from "../../shell/page.js";
import type { Subject } from "../../engine/explorer/protocol.js";

/** What is to be looked at. */
export interface Settings extends Subject {
  /** 0 to 7. */
  program: number;
  hashes: number;
}

/** The fields of the form, by their names in addresses. */
const FIELDS = {
  key: "test key 000",
  input: "This is a test",
  version: "1",
  program: "1",
  hashes: "16",
};

type Name = keyof typeof FIELDS;

const NAMES = Object.keys(FIELDS) as Name[];

/** The form, with what is wrong beside its fields. */
export class Form {
  readonly #root: HTMLElement;

  constructor(root: HTMLElement) {
    this.#root = root;
  }

  /** Fills in what an address asks for; what it does not name, or names wrongly, is as at first. */
  fill(query: URLSearchParams): void {
    for (const name of NAMES) {
      const field = this.#field(name);
      field.value = query.get(name) ?? FIELDS[name];
      if (field.value === "") field.value = FIELDS[name];
      this.#complain(name, "");
    }
  }

  /** The settings as they stand in the form, for an address: those that are not as at first. */
  query(): URLSearchParams {
    const values = NAMES.map((name) => [name, this.#field(name).value] as const);
    return new URLSearchParams(
      values
        .filter(([name, value]) => value !== FIELDS[name])
        .map(([name, value]) => [name, value]),
    );
  }

  /** The settings, or nothing where one is wrong; the keyboard is then there. */
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
      const bytes = readBytes(name, text);
      this.#complain(name, "");
      return bytes;
    } catch (error) {
      this.#complain(name, error instanceof Error ? `${error.message}.` : String(error));
      return undefined;
    }
  }

  #complain(name: Name, sentence: string): void {
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

/** Text in UTF-8, or bytes in hex behind `0x`. */
export function readBytes(name: string, text: string): Uint8Array<ArrayBuffer> {
  if (text === "") throw invalidArgument(name, "is missing");
  // Either way it is held against the longest that may be hashed.
  return parseBytes(name, text.startsWith("0x") ? text.slice(2) : new TextEncoder().encode(text));
}
