/** Descriptions of a figure's marks, shown beside the pointer. The figure's table has them for others. */
import { make } from "../shell/page.js";

/** The marks of a picture. */
interface Marks {
  svg: SVGSVGElement;
  tips: ReadonlyMap<Element, string>;
}

/** A mark's place in its picture, in pixels. */
interface Place {
  left: number;
  right: number;
  top: number;
  bottom: number;
  text: string;
}

/** How far from a mark the pointer may be, in pixels. */
const REACH = 24;

/** The tooltip of one figure after another in the same place. */
export class Tooltip {
  readonly element = make("p");

  constructor() {
    this.element.className = "plot-tip";
    this.element.hidden = true;
    // The table says the same.
    this.element.ariaHidden = "true";
  }

  /** Shows the descriptions of a picture's marks. */
  watch({ svg, tips }: Marks): void {
    this.element.hidden = true;
    let places: Place[] | undefined;
    const show = ({ clientX, clientY }: PointerEvent): void => {
      const frame = svg.getBoundingClientRect();
      places ??= placesOf(tips, frame);
      const [x, y] = [clientX - frame.left, clientY - frame.top];
      const found = nearest(places, x, y);
      this.element.hidden = !found;
      if (found) this.#put(found, svg);
    };
    svg.addEventListener("pointermove", show);
    svg.addEventListener("pointerdown", show);
    svg.addEventListener("pointerleave", () => {
      this.element.hidden = true;
    });
  }

  #put({ left, right, top, text }: Place, svg: SVGSVGElement): void {
    this.element.textContent = text;
    const { width } = svg.getBoundingClientRect();
    const half = this.element.offsetWidth / 2;
    const centre = Math.min(Math.max((left + right) / 2, half), Math.max(half, width - half));
    this.element.style.left = `${svg.getBoundingClientRect().left - parentLeft(this.element) + centre}px`;
    this.element.style.top = `${svg.getBoundingClientRect().top - parentTop(this.element) + top}px`;
  }
}

function parentLeft(element: HTMLElement): number {
  return element.offsetParent?.getBoundingClientRect().left ?? 0;
}

function parentTop(element: HTMLElement): number {
  return element.offsetParent?.getBoundingClientRect().top ?? 0;
}

function placesOf(tips: ReadonlyMap<Element, string>, frame: DOMRect): Place[] {
  return [...tips].map(([mark, text]) => {
    const { left, right, top, bottom } = mark.getBoundingClientRect();
    return {
      left: left - frame.left,
      right: right - frame.left,
      top: top - frame.top,
      bottom: bottom - frame.top,
      text,
    };
  });
}

/** Returns the mark below the pointer, or the nearest one within reach. */
function nearest(places: readonly Place[], x: number, y: number): Place | undefined {
  let found: Place | undefined;
  let least = REACH;
  for (const place of places) {
    const across = Math.max(place.left - x, 0, x - place.right);
    const along = Math.max(place.top - y, 0, y - place.bottom);
    // A bar may be short: what counts is the column.
    const distance = across + along / 8;
    if (distance < least) [found, least] = [place, distance];
  }
  return found;
}
