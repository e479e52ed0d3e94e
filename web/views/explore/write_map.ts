/** Draws the parts of the scratchpad that a hash overwrites, with a point for each 8 bytes. */
import { fact, make } from "../../shell/page.js";
import { whole } from "../../shell/words.js";
import type { Look } from "../../engine/explorer/protocol.js";

/** The points of a column and of a row. */
const SIDE = 512;

/** The colours of written and untouched points, which are distinct in light and dark. */
const WRITTEN = [196, 61, 51] as const;
const UNTOUCHED = [226, 229, 224] as const;

/** Makes the map, with its totals. */
export function writeMap({ exploration, written }: Look): HTMLElement {
  const { l1, l2, rest } = exploration.written;
  const canvas = make("canvas");
  canvas.width = SIDE;
  canvas.height = SIDE;
  canvas.role = "img";
  canvas.ariaLabel = `Overwritten: ${percent(l1)} of L1, ${percent(l2)} of L2, ${percent(rest)} of the rest`;
  canvas.className = "explore-map";
  canvas.getContext("2d")?.putImageData(image(written), 0, 0);
  const facts = make(
    "dl",
    fact("L1, the first 16 KiB", percent(l1)),
    fact("L2, the first 256 KiB", percent(l2)),
    fact("The other 1,792 KiB", percent(rest)),
    fact("Overwritten in total", `${whole(count(written) * 8)} bytes`),
  );
  facts.className = "facts";
  const box = make("div", canvas, facts);
  box.className = "explore-map-box";
  return box;
}

/** Formats a fraction as a percentage. */
export function percent(part: number): string {
  return `${(100 * part).toFixed(2)} %`;
}

function image(written: Uint8Array): ImageData {
  const image = new ImageData(SIDE, SIDE);
  for (let point = 0; point < SIDE * SIDE; point += 1) {
    const isWritten = ((written[point >> 3] ?? 0) >> (point & 7)) & 1;
    const [red, green, blue] = isWritten ? WRITTEN : UNTOUCHED;
    // Addresses go down the columns, so that the small levels are on the left.
    const at = 4 * (SIDE * (point % SIDE) + Math.floor(point / SIDE));
    image.data.set([red, green, blue, 255], at);
  }
  return image;
}

function count(written: Uint8Array): number {
  let bits = 0;
  for (const byte of written) for (let rest = byte; rest > 0; rest &= rest - 1) bits += 1;
  return bits;
}
