/** The bytes of a block in a strip, and the list of their meanings, which are highlighted together. */
import { make } from "../../shell/page.js";
import { bytes, whole } from "../../shell/words.js";
import type { Part } from "./parts.js";

/** The bytes that are shown of a part: all, or the head and the tail of a longer one. */
const SHOWN = { whole: 80, head: 48, tail: 16 };

/** The strip and its list, for one block after another. */
export class Strip {
  readonly #strip: HTMLElement;
  readonly #list: HTMLElement;

  constructor(strip: HTMLElement, list: HTMLElement) {
    this.#strip = strip;
    this.#list = list;
    for (const side of [strip, list]) {
      side.addEventListener("pointerover", ({ target }) => {
        const part = target instanceof Element ? target.closest<HTMLElement>("[data-part]") : null;
        this.light(part ? [Number(part.dataset.part)] : []);
      });
      side.addEventListener("pointerleave", () => {
        this.light([]);
      });
    }
  }

  /** Shows the parts of a block. */
  show(parts: readonly Part[]): void {
    this.#strip.replaceChildren(
      ...parts.map((part, index) => mark(make("span", ...shortened(part.hex)), index)),
    );
    this.#list.replaceChildren(
      ...parts.map((part, index) => {
        const { name, from, to, hex, value } = part;
        const size = make("small", place(from, to));
        const says = value === hex ? shortened(hex) : [value];
        return mark(make("div", make("dt", name, " ", size), make("dd", ...says)), index);
      }),
    );
  }

  /** Highlights some parts, and no others. */
  light(indices: readonly number[]): void {
    for (const side of [this.#strip, this.#list]) {
      for (const lit of side.querySelectorAll(".lit")) lit.classList.remove("lit");
      for (const index of indices) side.children[index]?.classList.add("lit");
    }
  }
}

/** Shortens long hex to its two ends. */
export function shortened(hex: string): (string | Node)[] {
  const count = hex.length / 2;
  if (count <= SHOWN.whole) return [hex];
  const left = count - SHOWN.head - SHOWN.tail;
  const gap = make("small", ` … ${bytes(left)} more … `);
  return [hex.slice(0, 2 * SHOWN.head), gap, hex.slice(-2 * SHOWN.tail)];
}

function place(from: number, to: number): string {
  return to - from === 1 ? `byte ${whole(from)}` : `bytes ${whole(from)} to ${whole(to - 1)}`;
}

function mark(element: HTMLElement, index: number): HTMLElement {
  element.dataset.part = String(index);
  return element;
}
