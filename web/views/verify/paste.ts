/** The form for a block that is pasted, typed, or dropped as a file. */
import { invalidArgument } from "../../../wasm/js/errors.js";
import * as validate from "../../../wasm/js/validate.js";
import { Field } from "../../shell/field.js";
import { find } from "../../shell/page.js";
import { bytes } from "../../shell/words.js";
import { examples } from "./examples.js";
import { readFile, readText, type Found } from "./read.js";
import type { Report } from "./report.js";
import { HASHING_BLOB, height, kindOf } from "./subject.js";

/** The form's fields, in order. */
const FIELDS = ["block", "seedHash", "difficulty", "expectedId", "height"] as const;

/** The form, in an element of the page. */
export class PasteForm {
  readonly #panel: HTMLElement;
  readonly #report: Report;
  readonly #fields: Record<(typeof FIELDS)[number], Field>;
  #next = 0;
  /** Counts opened files and changes of the fields, so that a file that is read too late is not shown. */
  #turn = 0;

  /** Passes blocks to `report`. */
  constructor(panel: HTMLElement, report: Report) {
    this.#panel = panel;
    this.#report = report;
    this.#fields = {
      block: new Field("block", blockBytes),
      seedHash: new Field("seed-hash", validate.hash),
      difficulty: new Field("difficulty", validate.difficulty),
      expectedId: new Field("expected-id", validate.hash, { optional: true }),
      height: new Field("height", height, { optional: true }),
    };
    const form = find(panel, "form", HTMLFormElement);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.submit();
    });
    form.addEventListener("input", () => {
      this.#turn += 1;
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
    this.#turn += 1;
    for (const name of FIELDS) this.#fields[name].write(found[name] ?? "");
    const { expectedId, height } = found;
    find(this.#panel, "details", HTMLDetailsElement).open ||=
      Boolean(expectedId) || Boolean(height);
    this.#showKind();
  }

  /** Verifies the block if all fields are valid; else focuses the first invalid one. */
  submit(): void {
    const texts = FIELDS.map((name) => this.#fields[name].read());
    const [bytes, seedHash, difficulty, expectedId, typed] = texts;
    const wrong = FIELDS[texts.indexOf(undefined)];
    if (wrong) {
      if (wrong === "expectedId" || wrong === "height") {
        find(this.#panel, "details", HTMLDetailsElement).open = true;
      }
      this.#fields[wrong].focus();
    }
    if (wrong ?? (!bytes || !seedHash || !difficulty)) return;
    void this.#report.verify({
      origin: "The block from the form",
      [kindOf(bytes)]: bytes,
      seedHash,
      difficulty,
      ...(expectedId ? { expectedId } : {}),
      ...(typed ? { height: height("height", typed) } : {}),
    });
  }

  /** Returns the key and the difficulty in the form. The other claims belong to one block alone. */
  #texts(): Found {
    const { seedHash, difficulty } = this.#fields;
    return { seedHash: seedHash.text, difficulty: difficulty.text };
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
      this.#showKind();
      if (!block.value.trimStart().startsWith("{")) return;
      try {
        this.fill({ ...this.#texts(), ...readText(block.value) });
      } catch (error) {
        this.#showError(error);
      }
    });
  }

  /** Ignores a file that is still being read. */
  close(): void {
    this.#turn += 1;
  }

  /** Reads a file into the form, and verifies the block in it, unless the visitor has chosen another one meanwhile. */
  async open(file: Blob): Promise<void> {
    const turn = (this.#turn += 1);
    const shown = this.#report.takeTurn();
    const isLate = (): boolean => turn !== this.#turn || shown !== this.#report.turn;
    try {
      const found = await readFile(file);
      if (isLate()) return;
      this.fill({ ...this.#texts(), ...found });
    } catch (error) {
      if (isLate()) return;
      this.#showError(error);
      this.#fields.block.focus();
      return;
    }
    this.submit();
  }

  #wireFiles(): void {
    const chooser = find(this.#panel, "#file", HTMLInputElement);
    chooser.addEventListener("change", () => {
      const [file] = chooser.files ?? [];
      if (!file) return;
      void this.open(file).then(() => {
        // Allows choosing the same file again.
        chooser.value = "";
      });
    });
  }

  #showError(error: unknown): void {
    const words = error instanceof Error ? error.message : String(error);
    this.#fields.block.showError(`Block: ${words}.`);
  }

  #showKind(): void {
    const hex = find(this.#panel, "#block", HTMLTextAreaElement).value.replace(/\s/gu, "");
    find(this.#panel, "#kind", HTMLElement).textContent = kindInWords(hex);
  }
}

/** Describes how the form reads a text. */
function kindInWords(hex: string): string {
  if (hex === "" || hex.startsWith("{")) return "";
  if (!/^(?:[\da-f]{2})+$/iu.test(hex)) return "This is not hex, two digits a byte.";
  const size = bytes(hex.length / 2);
  if (hex.length / 2 < HASHING_BLOB.least) return `${size}: too short for a hashing blob.`;
  return `${size}, read as ${kindOf(hex) === "block" ? "a block" : "a hashing blob"}.`;
}

function blockBytes(name: string, text: string): void {
  const { length } = validate.bytes(name, text);
  if (length >= HASHING_BLOB.least) return;
  const expected = `expected at least ${HASHING_BLOB.least} bytes, the shortest hashing blob`;
  throw invalidArgument(name, `${expected}, got ${bytes(length)}`);
}
