/** The view Verify: verifies a real block at once, and any other on request. */
import { engine } from "../../engine/engine.js";
import { takeDrops } from "../../shell/drop.js";
import { find, fragment, make } from "../../shell/page.js";
import { problem } from "../../shell/problem.js";
import { remember } from "../../shell/router.js";
import { failure, whole } from "../../shell/words.js";
import type { Mounted, View } from "../../shell/view.js";
import { Blocks } from "./blocks.js";
import { examples, WHOLE, wholeExample } from "./examples.js";
import { NodeForm } from "./node.js";
import { PasteForm } from "./paste.js";
import { Report } from "./report.js";
import "./style.css";
// After the rules that it replaces.
import "./phone.css";
import html from "./view.html?raw";

export const view: View = {
  name: "verify",
  title: "Verify",
  mount(root, query) {
    root.append(fragment(html));
    const mounted = new Verify(root);
    mounted.update(query);
    return mounted;
  },
};

/** The sources of blocks, as `from` in the address names them. */
const SOURCES = ["example", "paste", "node"] as const;
type Source = (typeof SOURCES)[number];

class Verify implements Mounted {
  readonly #root: HTMLElement;
  readonly #report: Report;
  readonly #paste: PasteForm;
  readonly #node: NodeForm;
  readonly #chosen: HTMLSelectElement;
  readonly #closing = new AbortController();
  readonly #stopTaking: () => void;

  constructor(root: HTMLElement) {
    this.#root = root;
    this.#report = new Report(find(root, "#report", HTMLElement));
    this.#paste = new PasteForm(find(root, "#from-paste", HTMLElement), this.#report);
    const blocks = new Blocks(find(root, "#node-result", HTMLElement), this.#report);
    this.#node = new NodeForm(find(root, "#from-node", HTMLElement), blocks);
    this.#chosen = find(root, "#example", HTMLSelectElement);
    this.#chosen.append(
      group("Whole blocks of July 2025", WHOLE),
      group(
        "Hashing blobs of July 2026, with exact difficulties",
        examples.map(({ height }, index) => ({
          height,
          words: index === examples.length - 1 ? "the newest of all" : "",
        })),
      ),
    );
    this.#chosen.addEventListener("change", () => {
      remember("verify", { block: this.#chosen.value });
      void this.#verifyExample();
    });
    this.#stopTaking = takeDrops((file) => {
      remember("verify", { from: "paste" });
      this.#choose("paste");
      void this.#paste.open(file);
    });
  }

  update(query: URLSearchParams): void {
    const source = SOURCES.find((each) => each === query.get("from")) ?? "example";
    this.#choose(source);
    if (source === "example") {
      const asked = query.get("block");
      this.#chosen.value = asked ?? "";
      const isUnknown = this.#chosen.selectedIndex < 0;
      if (isUnknown) this.#chosen.selectedIndex = 0;
      void this.#verifyExample();
      if (asked && isUnknown) {
        this.#showProblem(problem(`The examples have no block “${asked}”. This is another one.`));
      }
    }
    if (source === "node" && query.has("node")) this.#node.fill(query);
    if (source === "paste" && query.has("block")) {
      const given = (name: string): string => query.get(name) ?? "";
      this.#paste.fill({
        block: given("block"),
        seedHash: given("seed"),
        difficulty: given("difficulty"),
        expectedId: given("id"),
        height: given("height"),
      });
      this.#paste.submit();
    }
  }

  unmount(): void {
    this.#closing.abort();
    this.#stopTaking();
    this.#report.close();
    this.#paste.close();
    this.#node.close();
  }

  #choose(source: Source): void {
    for (const each of SOURCES) {
      find(this.#root, `#from-${each}`, HTMLElement).hidden = each !== source;
      const link = find(this.#root, `a[data-from="${each}"]`, HTMLAnchorElement);
      link.ariaCurrent = each === source ? "true" : null;
    }
  }

  async #verifyExample(): Promise<void> {
    const height = Number(this.#chosen.value);
    const found = examples.find((example) => example.height === height);
    this.#showProblem();
    const turn = found ? this.#report.takeTurn() : this.#report.clear("Loading the block…");
    // Workers start while the block is loaded. The report shows why they could not.
    engine().catch(() => undefined);
    try {
      const subject = found ?? (await wholeExample(height, this.#closing.signal));
      // The visitor may have chosen or verified another block meanwhile.
      if (turn !== this.#report.turn || this.#closing.signal.aborted) return;
      await this.#report.verify(subject);
    } catch (error) {
      if (turn !== this.#report.turn || this.#closing.signal.aborted) return;
      this.#report.clear("No block yet");
      const again = (): void => {
        // The button goes.
        this.#chosen.focus();
        void this.#verifyExample();
      };
      this.#showProblem(problem(failure(error), again));
    }
  }

  #showProblem(...box: HTMLElement[]): void {
    find(this.#root, "#example-error", HTMLElement).replaceChildren(...box);
  }
}

function group(label: string, entries: readonly { height: number; words: string }[]): HTMLElement {
  const options = entries.map(({ height, words }) => {
    const name = `Block ${whole(height)}`;
    const option = make("option", words === "" ? name : `${name}: ${words}`);
    option.value = String(height);
    return option;
  });
  const made = make("optgroup", ...options);
  made.label = label;
  return made;
}
