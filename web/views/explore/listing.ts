/** The listing of a program, which marks the instructions that branches repeat. */
import { scroll } from "../../plot/figure.js";
import { appendSlowly, make, numberCell, rowName, tableHead } from "../../shell/page.js";
import { whole } from "../../shell/words.js";
import type { Exploration } from "../../engine/explorer/protocol.js";

type Line = Exploration["lines"][number];

const TITLES = ["Number", "Instruction", "Jumps to", "Runs"];

/** Shows the program as a table in a scrolling box. */
export async function showListing(root: HTMLElement, lines: Line[]): Promise<void> {
  const body = make("tbody");
  const box = scroll(make("table", caption(lines), tableHead(TITLES, 3), body));
  box.classList.add("explore-listing");
  root.replaceChildren(box);
  const loops = loopsOf(lines);
  await appendSlowly(
    body,
    lines.map((line, index) => () => row(line, index, loops[index])),
  );
}

function caption(lines: Line[]): HTMLElement {
  const branches = lines.filter(({ target }) => target !== undefined).length;
  return make("caption", `${whole(lines.length)} instructions, ${branches} of them branches`);
}

function row(line: Line, index: number, loop: "inside" | "branch" | undefined): HTMLElement {
  const number = rowName(String(index));
  if (loop) {
    const mark = make("span", ", repeated");
    mark.className = "off-screen";
    number.append(mark);
  }
  const text = make("td", make("code", line.text));
  if (line.nop) text.append(" ", make("small", "does nothing"));
  const target = make("td", line.target === undefined ? "" : String(line.target));
  const element = make("tr", number, text, target, numberCell(whole(line.runs)));
  element.dataset.kind = kind(line.text);
  if (loop) element.dataset.loop = loop;
  return element;
}

/**
 * Returns, for each instruction, whether a branch repeats it. No two branches repeat the same one, since
 * a branch counts as a write of all registers.
 */
function loopsOf(lines: Line[]): ("inside" | "branch" | undefined)[] {
  const loops: ("inside" | "branch" | undefined)[] = lines.map(() => undefined);
  for (const [index, { target }] of lines.entries()) {
    if (target === undefined) continue;
    loops.fill("inside", target, index);
    loops[index] = "branch";
  }
  return loops;
}

function kind(text: string): "control" | "store" | "float" | "integer" {
  if (text.startsWith("C")) return "control";
  if (text.startsWith("ISTORE")) return "store";
  return text.startsWith("F") ? "float" : "integer";
}
