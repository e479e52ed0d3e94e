/** The form for any block. */
import * as validate from "../../../wasm/js/validate.js";
import type { Example } from "./examples.js";
import { Field } from "../../shell/field.js";
import { find } from "../../shell/page.js";
import type { Verification } from "./verification.js";

/** Wires the form to its view; the examples fill it on request, one after another. */
export function wireForm(
  view: Verification,
  examples: Iterator<Example, never>,
  closing: AbortSignal,
): void {
  const form = find(document, "#form", HTMLFormElement);
  const verify = find(form, "[type=submit]", HTMLButtonElement);
  const cancel = find(form, "#cancel", HTMLButtonElement);
  const seedHash = new Field("seed-hash", validate.hash);
  const hashingBlob = new Field("hashing-blob", validate.bytes);
  const difficulty = new Field("difficulty", validate.difficulty);
  const fields = [seedHash, hashingBlob, difficulty];

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const texts = fields.map((field) => field.read());
    const [seedHash, hashingBlob, difficulty] = texts;
    if (seedHash && hashingBlob && difficulty) {
      void run({ seedHash, hashingBlob, difficulty });
    } else {
      fields[texts.indexOf(undefined)]?.focus();
    }
  });

  find(form, "#another", HTMLButtonElement).addEventListener("click", () => {
    const example = examples.next().value;
    seedHash.write(example.seedHash);
    hashingBlob.write(example.hashingBlob);
    difficulty.write(example.difficulty);
  });

  async function run(block: Parameters<Verification["run"]>[0]): Promise<void> {
    const abort = new AbortController();
    const stop = (): void => {
      abort.abort();
    };
    cancel.addEventListener("click", stop);
    verify.disabled = true;
    cancel.disabled = false;
    await view.run(block, AbortSignal.any([abort.signal, closing]));
    verify.disabled = false;
    cancel.disabled = true;
    cancel.removeEventListener("click", stop);
  }
}
