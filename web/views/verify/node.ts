/** The form that requests blocks from a node and verifies them. */
import { invalidArgument } from "../../../wasm/js/errors.js";
import { Field } from "../../shell/field.js";
import { find } from "../../shell/page.js";
import { remember } from "../../shell/router.js";
import { readAddress } from "../../shell/url.js";
import { whole } from "../../shell/words.js";
import type { Blocks } from "./blocks.js";
import { verifyRange, type Range } from "./range.js";
import { height } from "./subject.js";

/** The most blocks of one run, which takes some minutes. */
const MOST = 1000;

/** The form, in an element of the page. */
export class NodeForm {
  readonly #blocks: Blocks;
  readonly #url: Field;
  readonly #first: Field;
  readonly #last: Field;
  #abort: AbortController | undefined;

  constructor(panel: HTMLElement, blocks: Blocks) {
    this.#blocks = blocks;
    this.#url = new Field("node-url", readAddress);
    this.#first = new Field("node-from", laterHeight);
    this.#last = new Field("node-to", laterHeight, { optional: true });
    find(panel, '[data-place="origin-of-page"]', HTMLElement).textContent = location.origin;
    blocks.onStop = () => this.#abort?.abort();
    find(panel, "form", HTMLFormElement).addEventListener("submit", (event) => {
      event.preventDefault();
      const range = this.#read();
      if (!range) return;
      const { url, first, last } = range;
      remember("verify", { from: "node", node: url, first: String(first), last: String(last) });
      void this.#run(range);
    });
  }

  /** Fills the fields from an address. Only the visitor starts a run: a link must not make the page send requests. */
  fill(query: URLSearchParams): void {
    this.#url.write(query.get("node") ?? "");
    this.#first.write(query.get("first") ?? "");
    this.#last.write(query.get("last") ?? "");
  }

  /** Aborts the run. */
  close(): void {
    this.#abort?.abort();
  }

  #read(): Range | undefined {
    const fields = [this.#url, this.#first, this.#last];
    const texts = fields.map((field) => field.read());
    const [address, from, to] = texts;
    if (address === undefined || from === undefined || to === undefined) {
      fields[texts.indexOf(undefined)]?.focus();
      return undefined;
    }
    const url = readAddress("node", address);
    this.#url.write(url);
    const first = height("first", from);
    const last = to === "" ? first : height("last", to);
    const most = first + MOST - 1;
    if (last >= first && last <= most) return { url, first, last };
    this.#last.showError(`Last height: expected ${whole(first)} to ${whole(most)}.`);
    this.#last.focus();
    return undefined;
  }

  /** Starts a run, and aborts the previous one. */
  async #run(range: Range): Promise<void> {
    this.#abort?.abort();
    const abort = new AbortController();
    this.#abort = abort;
    const ending = await verifyRange(range, this.#blocks, abort.signal);
    // The next run has the list and its button already.
    if (this.#abort !== abort) return;
    this.#blocks.end(ending);
  }
}

/** Checks the height of a block to verify. The first block has no predecessor, so its height 0 is invalid. */
function laterHeight(name: string, text: string): void {
  if (height(name, text) < 1) throw invalidArgument(name, "expected at least 1");
}
