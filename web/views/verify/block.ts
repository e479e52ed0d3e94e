/** The block at the top of the page: what is known of it, and what its blob says. */
import { readBlob } from "./blob.js";
import type { Example } from "./examples.js";
import { find, make } from "../../shell/page.js";
import { bytes, moment, whole } from "../../shell/words.js";

/** Blocks of one seed epoch, and how long after its seed's height it begins. */
const EPOCH_BLOCKS = 2048;
const EPOCH_LAG = 64;

/** Shows a block in the section `#example`. */
export function showBlock(block: Example): void {
  const { timestamp, parts } = readBlob(block.hashingBlob);
  const first = block.seedHeight + EPOCH_LAG + 1;
  show("height", whole(block.height));
  show("time", moment(timestamp));
  show("id", block.id);
  show("seed-height", whole(block.seedHeight));
  show("epoch", `${whole(first)} to ${whole(first + EPOCH_BLOCKS - 1)}`);
  show("seed-hash", block.seedHash);
  show("blob", ...parts.map(({ hex }) => make("span", hex)));
  show(
    "parts",
    ...parts.map(({ name, hex, value }) => {
      const size = make("small", bytes(hex.length / 2));
      return make("div", make("dt", name, " ", size), make("dd", value));
    }),
  );
}

function show(fact: string, ...content: (string | Node)[]): void {
  find(document, `#example [data-fact="${fact}"]`, HTMLElement).replaceChildren(...content);
}
