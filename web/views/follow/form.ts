/** The form: the sources, the network, and where a first start begins. */
import { Field } from "../../shell/field.js";
import { find, make } from "../../shell/page.js";
import * as validate from "../../../wasm/js/validate.js";
import {
  FIXED,
  INITIAL,
  isBlocks,
  MOST_BLOCKS,
  MOST_SOURCES,
  NETWORKS,
  readAddresses,
  type Settings,
} from "./settings.js";

/** The view's form. */
export class Form {
  readonly #root: HTMLElement;
  readonly #nodes: Field;
  readonly #relays: Field;
  readonly #difficulty: Field;
  readonly #network: HTMLSelectElement;
  readonly #last: HTMLInputElement;

  constructor(root: HTMLElement, onSubmit: (settings: Settings) => void) {
    this.#root = root;
    this.#nodes = new Field("follow-nodes", readAddresses, { optional: true, spaces: true });
    this.#relays = new Field("follow-relays", readAddresses, { optional: true, spaces: true });
    this.#difficulty = new Field("follow-difficulty", validate.chainDifficulty, { optional: true });
    this.#network = find(root, "#follow-network", HTMLSelectElement);
    this.#network.append(...NETWORKS.map((name) => make("option", name)));
    this.#last = find(root, "#follow-last", HTMLInputElement);
    find(root, '[data-part="origin"]', HTMLElement).textContent = location.origin;
    find(root, ".follow-form", HTMLFormElement).addEventListener("submit", (event) => {
      event.preventDefault();
      const settings = this.#read();
      if (settings) onSubmit(settings);
    });
  }

  /** Shows settings. */
  write({ nodes, relays, network, last, fixedDifficulty }: Settings): void {
    this.#nodes.write(nodes.join("\n"));
    this.#relays.write(relays.join("\n"));
    this.#difficulty.write(fixedDifficulty);
    this.#network.value = network;
    this.#last.value = String(last);
    // Shows what a link has chosen, before the visitor follows it.
    this.#details.open ||=
      network !== INITIAL.network || last !== INITIAL.last || fixedDifficulty !== "";
  }

  get #details(): HTMLDetailsElement {
    return find(this.#root, "details", HTMLDetailsElement);
  }

  /** Returns the settings, or focuses the first invalid field and returns nothing. */
  #read(): Settings | undefined {
    const nodes = this.#nodes.read();
    const relays = this.#relays.read();
    const network = NETWORKS.find((name) => name === this.#network.value) ?? "mainnet";
    let fixedDifficulty = this.#difficulty.read();
    if (fixedDifficulty && network !== FIXED) {
      this.#difficulty.showError(`Fixed difficulty: expected the network ${FIXED}.`);
      fixedDifficulty = undefined;
    }
    const last = Number(this.#last.value || "-1");
    this.#showLast(isBlocks(last) ? "" : `Last blocks: expected 0 to ${MOST_BLOCKS}.`);
    const wrong = [
      ...(nodes === undefined ? [this.#nodes] : []),
      ...(relays === undefined ? [this.#relays] : []),
      ...(isBlocks(last) ? [] : [this.#last]),
      ...(fixedDifficulty === undefined ? [this.#difficulty] : []),
    ];
    if (nodes === undefined || relays === undefined || fixedDifficulty === undefined || wrong[0]) {
      if (wrong[0] === this.#last || wrong[0] === this.#difficulty) {
        this.#details.open = true;
      }
      wrong[0]?.focus();
      return undefined;
    }
    const nodeList = readAddresses("nodes", nodes);
    const relayList = readAddresses("relays", relays);
    const count = nodeList.length + relayList.length;
    if (count === 0 || count > MOST_SOURCES) {
      const expected =
        count === 0 ? "at least one node or relay" : `at most ${MOST_SOURCES} nodes and relays`;
      const [field, name] =
        relayList.length > nodeList.length ? [this.#relays, "Relays"] : [this.#nodes, "Nodes"];
      field.showError(`${name}: expected ${expected}${count === 0 ? "" : `, got ${count}`}.`);
      field.focus();
      return undefined;
    }
    const settings = { nodes: nodeList, relays: relayList, network, last, fixedDifficulty };
    this.write(settings);
    return settings;
  }

  #showLast(words: string): void {
    this.#last.ariaInvalid = String(words !== "");
    find(this.#root, "#follow-last-error", HTMLElement).textContent = words;
  }
}
