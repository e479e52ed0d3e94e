/** The hash as a number, and the difficulty that it meets beside the one that was demanded. */
import { make } from "../../shell/page.js";
import { whole } from "../../shell/words.js";

/** The difficulties, in the element that shows them. */
export function showProof(root: HTMLElement, demanded: bigint, hash: Uint8Array | null): void {
  if (!hash) {
    root.replaceChildren(make("dl", row("Demanded", whole(demanded), 0)));
    return;
  }
  const met = difficultyMet(hash);
  const most = met > demanded ? met : demanded;
  root.replaceChildren(
    make(
      "dl",
      row("Demanded", whole(demanded), part(demanded, most)),
      row("Met", whole(met), part(met, most)),
    ),
    make(
      "p",
      `What the hash meets is 2²⁵⁶ divided by it: ${ratio(met, demanded)} what was demanded.`,
    ),
  );
}

/** The largest difficulty that a hash meets: 2^256 / hash, read as little-endian. */
export function difficultyMet(hash: Uint8Array): bigint {
  const value = hash.reduceRight((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
  const limit = (1n << 256n) - 1n;
  return value === 0n ? limit : limit / value;
}

function row(name: string, value: string, done: number): HTMLElement {
  const bar = make("span");
  bar.className = "bar";
  bar.style.setProperty("--part", String(done));
  const number = make("span", value);
  number.dataset.difficulty = name.toLowerCase();
  return make("div", make("dt", name), make("dd", number, bar));
}

/** Two places are exact enough for a bar. */
function part(of: bigint, most: bigint): number {
  return Number((of * 1000n) / most) / 1000;
}

/** How many times as great, with as many places as tell something. */
function ratio(met: bigint, demanded: bigint): string {
  const hundredths = (met * 100n) / demanded;
  if (hundredths >= 1000n) return `${whole(hundredths / 100n)} times`;
  return hundredths === 0n ? "less than a hundredth of" : `${Number(hundredths) / 100} times`;
}
