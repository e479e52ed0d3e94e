/** The form for a block that is pasted, typed, or dropped as a file. */
import * as validate from "../../../wasm/js/validate.js";
import { Field } from "../../shell/field.js";
import { find } from "../../shell/page.js";
import { bytes } from "../../shell/words.js";
import { examples } from "./examples.js";
import { readFile, readText, type Found } from "./read.js";
import { kindOf, type Subject } from "./subject.js";

/** The form's fields, in order. */
const FIELDS = ["block", "seedHash", "difficulty", "expectedId", "height"] as const;

/** The form, in an element of the page. It passes blocks to `verify`. */
export class PasteForm {
  readonly #panel: HTMLElement;
  readonly #verify: (subject: Subject) => void;
  readonly #fields: Record<(typeof FIELDS)[number], Field>;
  #next = 0;

  constructor(panel: HTMLElement, verify: (subject: Subject) => void) {
    this.#panel = panel;
    this.#verify = verify;
    this.#fields = {
      block: new Field("block", validate.bytes),
      seedHash: new Field("seed-hash", validate.hash),
      difficulty: new Field("difficulty", validate.difficulty),
      expectedId: new Field("expected-id", validate.hash, { optional: true }),
      height: new Field("height", height, { optional: true }),
    };
    find(panel, "form", HTMLFormElement).addEventListener("submit", (event) => {
      event.preventDefault();
      this.submit();
    });
    find(panel, "#fill", HTMLButtonElement).addEventListener("click", () => {
      const { hashingBlob, height, ...rest } = this.#example();
      this.fill({ ...rest, block: hashingBlob ?? "", height: String(height) });
    });
    this.#wireFiles();
    this.#wireBlock();
  }

  /** Fills the fields, and empties those without a text. */
  fill(found: Found): void {
    for (const name of FIELDS) this.#fields[name].write(found[name] ?? "");
    const { expectedId, height } = found;
    find(this.#panel, "details", HTMLDetailsElement).open ||= Boolean(expectedId ?? height);
    this.#showKind();
  }

  /** Verifies the block if all fields are valid; else focuses the first invalid one. */
  submit(): void {
    const texts = FIELDS.map((name) => this.#fields[name].read());
    const [bytes, seedHash, difficulty, expectedId, height] = texts;
    const wrong = FIELDS[texts.indexOf(undefined)];
    if (wrong) {
      if (wrong === "expectedId" || wrong === "height") {
        find(this.#panel, "details", HTMLDetailsElement).open = true;
      }
      this.#fields[wrong].focus();
    }
    if (wrong ?? (!bytes || !seedHash || !difficulty)) return;
    this.#verify({
      origin: "The block from the form",
      [kindOf(bytes)]: bytes,
      seedHash,
      difficulty,
      ...(expectedId ? { expectedId } : {}),
      ...(height ? { height: Number(height) } : {}),
    });
  }

  #example(): (typeof examples)[number] {
    const example = examples[this.#next % examples.length];
    this.#next += 1;
    if (!example) throw new Error("there is no example");
    return example;
  }

  /** Distributes JSON that is pasted as the block among the fields. */
  #wireBlock(): void {
    const block = find(this.#panel, "#block", HTMLTextAreaElement);
    block.addEventListener("input", () => {
      if (block.value.trimStart().startsWith("{")) this.#take(() => readText(block.value));
      this.#showKind();
    });
  }

  #wireFiles(): void {
    const chooser = find(this.#panel, "#file", HTMLInputElement);
    const open = async (file: Blob | null | undefined): Promise<void> => {
      if (!file) return;
      try {
        const found = await readFile(file);
        this.#take(() => found);
      } catch (error) {
        this.#showError(error);
      }
    };
    chooser.addEventListener("change", () => {
      void open(chooser.files?.[0]).then(() => {
        // Allows choosing the same file again.
        chooser.value = "";
      });
    });
    this.#panel.addEventListener("dragover", (event) => {
      event.preventDefault();
      this.#panel.classList.add("over");
    });
    this.#panel.addEventListener("dragleave", () => {
      this.#panel.classList.remove("over");
    });
    this.#panel.addEventListener("drop", (event) => {
      event.preventDefault();
      this.#panel.classList.remove("over");
      void open(event.dataTransfer?.files[0]);
    });
  }

  /** Fills the fields that were found, and leaves the others as they are. */
  #take(read: () => Found): void {
    try {
      for (const [name, text] of Object.entries(read()) as [keyof Found, string][]) {
        this.#fields[name].write(text);
      }
    } catch (error) {
      this.#showError(error);
    }
    this.#showKind();
  }

  #showError(error: unknown): void {
    const words = error instanceof Error ? error.message : String(error);
    this.#fields.block.showError(`Block: ${words}.`);
  }

  #showKind(): void {
    const hex = find(this.#panel, "#block", HTMLTextAreaElement).value.replace(/\s/gu, "");
    const kind = kindOf(hex) === "block" ? "a block" : "a hashing blob";
    find(this.#panel, "#kind", HTMLElement).textContent =
      hex === "" ? "" : `${bytes(Math.ceil(hex.length / 2))}, read as ${kind}`;
  }
}

function height(name: string, text: string): void {
  validate.height(name, /^[0-9]{1,16}$/u.test(text) ? Number(text) : NaN);
}
