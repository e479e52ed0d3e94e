/** Draws the seed epoch on a line: the seed block, the blocks with its key, and the shown block. */
import { fact, make } from "../../shell/page.js";
import { day, whole } from "../../shell/words.js";

/** The blocks of a seed epoch, and the lag between its seed block and its beginning. */
const EPOCH_BLOCKS = 2048;
const EPOCH_LAG = 64;
/** The seconds between blocks that the difficulty rule aims at. */
const BLOCK_SECONDS = 120;

const SVG = "http://www.w3.org/2000/svg";

/** A block in its seed epoch. */
export interface Epoch {
  height: number;
  seedHeight: number;
  /** The block's timestamp, in seconds since 1970. */
  timestamp: number | undefined;
}

/** Makes the line and its description. */
export function epochLine(epoch: Epoch): HTMLElement {
  const { height, seedHeight } = epoch;
  // No lag follows the genesis block, since no key was before it.
  const first = seedHeight === 0 ? 0 : seedHeight + EPOCH_LAG + 1;
  const last = seedHeight + EPOCH_LAG + EPOCH_BLOCKS;
  const nth = height - first + 1;
  const at = (of: number): number => (100 * (of - seedHeight)) / (last + 1 - seedHeight);
  const figure = make(
    "figure",
    picture(at, first, height),
    marks(epoch, first, last),
    make(
      "figcaption",
      `Block ${whole(height)} is number ${whole(nth)} of the ${whole(last - first + 1)} blocks whose ` +
        `key is the id of block ${whole(seedHeight)}. One cache serves them all, for about ` +
        `${((EPOCH_BLOCKS * BLOCK_SECONDS) / 86_400).toFixed(1)} days. The next key begins at ` +
        `block ${whole(last + 1)}.`,
    ),
  );
  figure.className = "epoch";
  return figure;
}

function picture(at: (height: number) => number, first: number, height: number): SVGElement {
  const svg = element("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none" });
  svg.setAttribute("aria-hidden", "true");
  svg.append(
    element("rect", { class: "lag", x: 0, y: 3, width: at(first), height: 4 }),
    element("rect", { class: "served", x: at(first), y: 2, width: 100 - at(first), height: 6 }),
    element("rect", {
      class: "past",
      x: at(first),
      y: 2,
      width: at(height) - at(first),
      height: 6,
    }),
    element("rect", { class: "seed", x: 0, y: 0, width: 0.5, height: 10 }),
    element("rect", { class: "here", x: Math.min(99.5, at(height)), y: 0, width: 0.5, height: 10 }),
  );
  return svg;
}

/** Makes the labels below the line: heights and days. Only the shown block's day is certain. */
function marks({ height, seedHeight, timestamp }: Epoch, first: number, last: number): HTMLElement {
  const mark = (name: string, of: number): HTMLElement => {
    const when =
      timestamp === undefined
        ? ""
        : `${of === height ? "" : "about "}${day(timestamp + BLOCK_SECONDS * (of - height))}`;
    return fact(name, whole(of), " ", make("small", when));
  };
  return make(
    "dl",
    mark("Block whose id is the key", seedHeight),
    mark("First block with this key", first),
    mark("This block", height),
    mark("Last block with this key", last),
  );
}

function element(name: string, attributes: Record<string, string | number>): SVGElement {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  return made;
}
