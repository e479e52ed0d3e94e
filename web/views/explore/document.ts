/** The table of the design document's figures beside the counted ones. */
import { make, numberCell, rowName } from "../../shell/page.js";
import { formatNumber } from "../../shell/words.js";
import type { Figures, Look, SuperscalarFunction } from "../../engine/explorer/protocol.js";
import { percent } from "./write_map.js";

/** The figures counted so far. */
export interface Counted {
  look?: Look;
  /** RandomX's version of the look and the figures. */
  version?: 1 | 2;
  figures?: Figures;
  superscalar?: SuperscalarFunction;
}

interface Row {
  what: string;
  published: string;
  here: (counted: Counted) => string | undefined;
}

const ROWS: Row[] = [
  row("Reads of a program by its instructions (2.8.3)", "39", (c) =>
    number(c.figures?.accesses.listedReads),
  ),
  row("Writes of a program by its instructions (2.8.3)", "16", (c) =>
    number(c.figures?.accesses.listedWrites),
  ),
  row("Bytes read in an iteration (2.8.3)", "504", (c) => number(c.figures?.accesses.bytesRead)),
  row("Bytes written in an iteration (2.8.3)", "256", (c) =>
    number(c.figures?.accesses.bytesWritten),
  ),
  row("Overwritten part of the scratchpad beyond L2 (2.8.2)", "about 66 %", (c) =>
    part(c.look?.exploration.written.rest),
  ),
  row("Branches that are taken (2.6.2)", "0.39 %, 1 in 256", (c) =>
    part(c.figures?.branches.takenShare),
  ),
  row(
    "Times in a row that a branch is taken (2.6.2)",
    "up to 2",
    (c) => c.figures && `up to ${c.figures.branches.longestRun}`,
  ),
  row(
    "Range of group F (2.5.1)",
    "about ±3.0e+14",
    (c) => c.figures && `±${c.figures.fRange.toExponential(1)}`,
  ),
  row(
    "Programs that reach infinity (2.5.1)",
    "about 2 %",
    (c) =>
      c.figures &&
      `${percent(c.figures.infinitePrograms / c.figures.programs)} of ${c.figures.programs}`,
  ),
  row("Instructions of a SuperscalarHash function (3.4)", "450", (c) =>
    number(c.superscalar?.means.instructions),
  ),
  row("Multiplications among them (3.4)", "155", (c) =>
    number(c.superscalar?.means.multiplications),
  ),
  row("Longest chain of dependent instructions (3.4)", "95", (c) =>
    number(c.superscalar?.means.chain),
  ),
  row("Cycles of the model processor (3.4)", "170", (c) => number(c.superscalar?.means.latency)),
];

/** Makes the table's rows. A dash stands for a figure that is not counted yet. */
export function documentRows(counted: Counted): HTMLElement[] {
  return ROWS.map(({ what, published, here }) => {
    const cells = [published, here(counted) ?? "–"].map(numberCell);
    return make("tr", rowName(...linked(what)), ...cells);
  });
}

/** Chapters of the design document, as the end of their addresses. */
const CHAPTERS: Record<string, string> = {
  "2.5.1": "251-floating-point-register-groups",
  "2.6.2": "262-cbranch-instruction",
  "2.8.2": "282-scratchpad-writes",
  "2.8.3": "283-read-write-ratio",
  "3.4": "34-superscalarhash",
};

/** Makes a link of the chapter's number in a text. */
function linked(text: string): (string | Node)[] {
  const [, before = text, chapter = "", after = ""] = /^(.*\()([\d.]+)(\).*)$/u.exec(text) ?? [];
  const place = CHAPTERS[chapter];
  if (place === undefined) return [text];
  const link = make("a", chapter);
  link.href = `https://github.com/tevador/RandomX/blob/master/doc/design.md#${place}`;
  return [before, link, after];
}

function row(what: string, published: string, here: Row["here"]): Row {
  return { what, published, here };
}

function number(value: number | undefined): string | undefined {
  return value === undefined ? undefined : formatNumber(value);
}

function part(value: number | undefined): string | undefined {
  return value === undefined ? undefined : percent(value);
}
