/** The bytes of a block in a strip, and the list of their meanings, which are highlighted together. */
import { make } from "../../shell/page.js";
import { bytes, whole } from "../../shell/words.js";
import type { Part } from "./parts.js";

/** The bytes that are shown of a part: all, or the head and the tail of a longer one. */
const SHOWN = { whole: 80, head: 48, tail: 16 };

/** Steps between bytes by the arrow keys. */
const STEPS: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1 };

/** The strip and its list, for one block after another. */
export class Strip {
  readonly #strip: HTMLElement;
  readonly #list: HTMLElement;

  /** `onByte` is called when the visitor chooses a byte of the strip. */
  constructor(strip: HTMLElement, list: HTMLElement, onByte: (byte: number) => void) {
    this.#strip = strip;
    this.#list = list;
    const light = ({ target }: Event): void => {
      const part = target instanceof Element ? target.closest<HTMLElement>("[data-part]") : null;
      this.light(part ? [Number(part.dataset.part)] : []);
    };
    const dim = (): void => {
      this.light([]);
    };
    for (const side of [strip, list]) {
      side.addEventListener("pointerover", light);
      side.addEventListener("pointerleave", dim);
    }
    strip.addEventListener("focusin", light);
    strip.addEventListener("focusout", dim);
    strip.addEventListener("click", ({ target }) => {
      const button = target instanceof Element ? target.closest("button") : null;
      if (!button) return;
      // Not every browser focuses a button that is clicked.
      this.#focus(button);
      onByte(Number(button.dataset.byte));
    });
    strip.addEventListener("keydown", (event) => {
      const step = STEPS[event.key];
      // With another key they belong to the browser, as for going back.
      if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
      if (step === undefined || !(event.target instanceof HTMLButtonElement)) return;
      event.preventDefault();
      const buttons = this.#buttons();
      this.#focus(buttons[buttons.indexOf(event.target) + step]);
    });
  }

  /** Shows the parts of a block, and marks the byte that the visitor altered, if any. */
  show(parts: readonly Part[], altered: number | undefined): void {
    const focused = document.activeElement;
    const kept = focused instanceof HTMLElement && this.#strip.contains(focused);
    const at = kept ? Number(focused.dataset.byte) : undefined;
    this.#strip.replaceChildren(
      ...parts.map((part, index) => {
        const span = mark(make("span", ...byteButtons(part, altered)), index);
        span.role = "group";
        span.ariaLabel = part.name;
        return span;
      }),
    );
    this.#list.replaceChildren(
      ...parts.map((part, index) => {
        const { name, from, to, hex, value } = part;
        const base = value === hex ? "hex" : /^\d+$/u.test(value) ? "decimal" : "";
        const size = make("small", [place(from, to), base].filter(Boolean).join(", "));
        const says = value === hex ? shortened(hex) : [value];
        return mark(make("div", make("dt", name, " ", size), make("dd", ...says)), index);
      }),
    );
    const buttons = this.#buttons();
    const [first] = buttons;
    if (first) first.tabIndex = 0;
    if (at !== undefined) this.#focus(buttons.find(({ dataset }) => Number(dataset.byte) === at));
  }

  /** Highlights some parts, and no others. */
  light(indices: readonly number[]): void {
    for (const side of [this.#strip, this.#list]) {
      for (const lit of side.querySelectorAll(".lit")) lit.classList.remove("lit");
      for (const index of indices) side.children[index]?.classList.add("lit");
    }
  }

  #buttons(): HTMLButtonElement[] {
    return [...this.#strip.querySelectorAll("button")];
  }

  /** Focuses a byte, from which the arrow keys go on. */
  #focus(button: HTMLButtonElement | undefined): void {
    if (!button) return;
    for (const other of this.#strip.querySelectorAll<HTMLElement>('[tabindex="0"]')) {
      other.tabIndex = -1;
    }
    button.tabIndex = 0;
    button.focus();
  }
}

/** Shortens long hex to its two ends. */
export function shortened(hex: string): (string | Node)[] {
  const { head, tail, gap } = cut(hex);
  return gap ? [head, gap, tail] : [head];
}

function cut(hex: string): { head: string; tail: string; gap?: HTMLElement } {
  const count = hex.length / 2;
  if (count <= SHOWN.whole) return { head: hex, tail: "" };
  const gap = make("small", ` … ${bytes(count - SHOWN.head - SHOWN.tail)} more … `);
  return { head: hex.slice(0, 2 * SHOWN.head), tail: hex.slice(-2 * SHOWN.tail), gap };
}

function byteButtons({ hex, from, to }: Part, altered: number | undefined): (string | Node)[] {
  const { head, tail, gap } = cut(hex);
  const buttons = (digits: string, first: number): HTMLButtonElement[] =>
    (digits.match(/../gu) ?? []).map((byte, index) => {
      const button = make("button", byte);
      button.type = "button";
      button.tabIndex = -1;
      button.dataset.byte = String(first + index);
      if (first + index === altered) button.dataset.altered = "";
      return button;
    });
  return [...buttons(head, from), ...(gap ? [gap] : []), ...buttons(tail, to - tail.length / 2)];
}

function place(from: number, to: number): string {
  if (from === to) return "no bytes";
  return to - from === 1 ? `byte ${whole(from)}` : `bytes ${whole(from)} to ${whole(to - 1)}`;
}

function mark(element: HTMLElement, index: number): HTMLElement {
  element.dataset.part = String(index);
  return element;
}
