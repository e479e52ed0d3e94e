/** Draws forks: the last common block, and the blocks of both sides after it. */
import type { BlockRef, ChainBranch } from "../../../wasm/js/index.js";
import { download } from "../../shell/download.js";
import { make } from "../../shell/page.js";
import { moment, plural, whole } from "../../shell/words.js";
import type { Accusation, Fork } from "./state.js";

/** The blocks of a side that are drawn: all, or the first and the last of more. */
const SHOWN = 6;

/** The headings of both sides, by the kind of fork. */
const SIDES: Record<Fork["kind"], [ours: string, theirs: string]> = {
  reorg: ["Before", "Now"],
  "deep-reorg": ["Our chain", "The other branch"],
  disagreement: ["Our chain", "The source’s chain"],
};

/** Makes the drawing of a fork, with its evidence to save if there is some. */
export function forkFigure(fork: Fork): HTMLElement {
  const { kind, common, ours, theirs, at, evidence } = fork;
  const [first, second] = SIDES[kind];
  const sides = make("div", side(first, ours, "ours"), side(second, theirs, "theirs"));
  sides.className = "follow-sides";
  const trunk = make("div", block(common));
  trunk.className = "follow-trunk";
  const drawing = make("div", trunk, sides);
  drawing.className = "follow-fork";
  const when = moment(Math.floor(at / 1000));
  const figure = make("figure", make("figcaption", `${inWords(fork)} Reported ${when}.`), drawing);
  figure.dataset.kind = kind;
  if (fork.source !== undefined) figure.dataset.from = fork.source;
  if (evidence) {
    figure.append(saveButton(evidence, `evidence-${common.height}.bin`, "Save the evidence"));
  }
  return figure;
}

/** Makes the note about a source that sent something false. */
export function accusationNote({ source, evidence }: Accusation): HTMLElement {
  const reason = source.reason ?? "it sent false data";
  return make(
    "div",
    make("p", `This page no longer uses ${source.url}: ${reason}.`),
    saveButton(evidence, `evidence-source-${source.index + 1}.bin`, "Save the evidence"),
  );
}

function inWords({ kind, common, ours, theirs, source = "" }: Fork): string {
  const depth = plural(ours.blocks.length, "block");
  switch (kind) {
    case "reorg": {
      const count = theirs.blocks.length;
      // Nothing replaces blocks whose difficulties were read anew and are higher.
      const how = count
        ? `replaced by ${plural(count, "block")} with more work`
        : "dropped: their hashes may miss corrected difficulties";
      return `Reorganisation: ${depth} after block ${whole(common.height)} ${how}.`;
    }
    case "deep-reorg":
      return `${source} has a branch with more work, which would revert ${depth}, if all its proofs of work hold.`;
    case "disagreement":
      return `${source} disagrees from block ${whole(common.height + 1)} on.`;
  }
}

function side(title: string, { blocks, work }: ChainBranch, kind: string): HTMLElement {
  const cut = blocks.length > SHOWN;
  const list = make(
    "ol",
    ...blocks.slice(0, cut ? SHOWN - 1 : SHOWN).map((each) => block(each, "li")),
  );
  const last = blocks.at(-1);
  if (cut && last) {
    const left = make("li", `${whole(blocks.length - SHOWN)} more`);
    left.className = "hint";
    list.append(left, block(last, "li"));
  }
  const heading = make("p", `${title} `, make("small", `work ${whole(work)}`));
  const element = make("div", heading, list);
  element.dataset.side = kind;
  return element;
}

/** Makes a block: its height, and the beginning of its id. */
export function block({ height, id }: BlockRef, tag: "div" | "li" = "div"): HTMLElement {
  const name = make("code", `${id.slice(0, 8)}…`);
  name.title = id;
  const element = make(tag, make("span", whole(height)), name);
  element.className = "follow-block";
  element.dataset.height = String(height);
  return element;
}

function saveButton(bytes: Uint8Array, name: string, words: string): HTMLElement {
  const button = make("button", words);
  button.type = "button";
  button.addEventListener("click", () => {
    download(name, "application/octet-stream", bytes);
  });
  return button;
}
