/** Shows the difficulty that a hash meets beside the one that it is checked against. */
import { difficultyOf, valueOf } from "../../../wasm/js/shares/target.js";
import { fact, make } from "../../shell/page.js";
import { whole } from "../../shell/words.js";
import type { Subject } from "./subject.js";

/** Shows both difficulties in an element. */
export function showProof(
  root: HTMLElement,
  { difficulty, difficultyName = "Required" }: Subject,
  hash: Uint8Array | null,
): void {
  const required = BigInt(difficulty);
  if (!hash) {
    root.replaceChildren(make("dl", row(difficultyName, required, 0)));
    return;
  }
  const met = difficultyOf(valueOf(hash));
  const most = met > required ? met : required;
  root.replaceChildren(
    make(
      "dl",
      row(difficultyName, required, part(required, most)),
      row("Met", met, part(met, most)),
    ),
    make(
      "p",
      `A hash meets the difficulty 2²⁵⁶ divided by the hash: here ${ratio(met, required)} “${difficultyName}”.`,
    ),
  );
}

function row(name: string, value: bigint, done: number): HTMLElement {
  const bar = make("span");
  bar.className = "bar";
  bar.style.setProperty("--part", String(done));
  const number = make("span", whole(value));
  number.dataset.difficulty = name.toLowerCase();
  return fact(name, number, bar);
}

/** Returns a fraction to three places, which is exact enough for a bar. */
function part(of: bigint, most: bigint): number {
  return Number((of * 1000n) / most) / 1000;
}

/** Formats a ratio with two places if it is small. */
function ratio(met: bigint, required: bigint): string {
  const hundredths = (met * 100n) / required;
  if (hundredths >= 1000n) return `${whole(hundredths / 100n)} times`;
  return hundredths === 0n ? "less than a hundredth of" : `${Number(hundredths) / 100} times`;
}
