/** Shows a SuperscalarHash function on the model processor. */
import { scroll, type Figure } from "../../plot/figure.js";
import { cells, type Cell } from "../../plot/plots.js";
import { appendSlowly, fact, make, rowName, tableHead } from "../../shell/page.js";
import { whole } from "../../shell/words.js";
import type { SuperscalarFunction } from "../../engine/explorer/protocol.js";

const PORTS = ["P0", "P1", "P5"];

const TITLES = ["Number", "Instruction", "Macro-ops with cycle and port"];

/** The kinds of macro-ops, in the order of their colours. */
export const KINDS = ["multiply", "add or subtract", "exclusive or", "rotate", "load a constant"];

const KIND_OF: Record<string, string | undefined> = {
  mul_r: "multiply",
  imul_r: "multiply",
  imul_rr: "multiply",
  add_ri: "add or subtract",
  sub_rr: "add or subtract",
  lea_sib: "add or subtract",
  xor_ri: "exclusive or",
  xor_rr: "exclusive or",
  ror_ri: "rotate",
  mov_ri: "load a constant",
};

/** Draws the macro-ops by port and cycle. */
export function ports(made: SuperscalarFunction, width: number): Figure {
  const places: Cell[] = made.macroOps.flatMap(({ name, cycle, ports }) =>
    ports.map((port) => ({ x: cycle, y: port, kind: KIND_OF[name] ?? name })),
  );
  const last = Math.max(0, ...places.map(({ x }) => x));
  const labels = {
    caption: "Macro-ops that each port of the model processor starts in each cycle",
    x: "cycle",
    y: "port",
  };
  return cells(labels, { rows: PORTS, columns: [0, last], kinds: KINDS }, places, width);
}

/** Shows the function's figures and instructions. */
export async function describe(root: HTMLElement, made: SuperscalarFunction): Promise<void> {
  const facts = make(
    "dl",
    fact("Instructions", whole(made.instructions.length)),
    fact("Longest chain", `${made.chain} instructions`),
    fact("Latency", `${made.latency} cycles`),
    fact("Code", `${whole(made.codeSize)} bytes in ${made.decodeCycles} groups`),
    fact("Dropped", `${made.discarded} instructions without a register`),
    fact("Selects the next cache line", `r${made.addressRegister}`),
  );
  facts.className = "facts";
  const body = make("tbody");
  const caption = make("caption", "The function’s instructions");
  const box = scroll(make("table", caption, tableHead(TITLES), body));
  box.classList.add("explore-listing");
  root.replaceChildren(facts, box);
  await appendSlowly(body, rowsOf(made));
}

function rowsOf({ instructions, macroOps }: SuperscalarFunction): (() => HTMLElement)[] {
  const parts = instructions.map((): string[] => []);
  for (const { instruction, name, cycle, ports } of macroOps) {
    const where = ports.length > 0 ? ports.join(" + ") : "no port";
    if (instruction !== undefined)
      parts[instruction]?.push(`${name} in cycle ${cycle} on ${where}`);
  }
  return instructions.map((text, at) => () => {
    const words = make("td", parts[at]?.join(", ") ?? "");
    return make("tr", rowName(String(at)), make("td", make("code", text)), words);
  });
}
