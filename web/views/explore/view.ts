/** The view Explore: one hash in detail, and figures of many. */
import { RandomXError } from "../../../wasm/js/errors.js";
import { hex } from "../../../wasm/js/monero/hex.js";
import { place, type Figure } from "../../plot/figure.js";
import { legend } from "../../plot/plots.js";
import { causeOf } from "../../shell/load.js";
import { find, fragment, isDisabled, make, nextFrame, setDisabled } from "../../shell/page.js";
import { problem } from "../../shell/problem.js";
import { ProgressBar } from "../../shell/progress.js";
import { remember } from "../../shell/router.js";
import type { View } from "../../shell/view.js";
import { failure, whole } from "../../shell/words.js";
import { Client } from "../../engine/explorer/client.js";
import * as distributions from "./distributions.js";
import { documentRows, type Counted } from "./document.js";
import { showListing } from "./listing.js";
import type { Progress } from "../../engine/explorer/protocol.js";
import { REGISTERS, registers } from "./registers.js";
import { Form, type Settings } from "./settings.js";
import "./style.css";
import { describe, KINDS, ports } from "./superscalar.js";
import html from "./view.html?raw";
import { writeMap } from "./write_map.js";

export const view: View = {
  name: "explore",
  title: "Explore",
  mount(root, query) {
    root.append(fragment(html));
    const explore = new Explore(root);
    explore.open(query);
    return {
      update: (changed) => {
        explore.open(changed);
      },
      unmount: () => {
        explore.close();
      },
    };
  },
};

/** The parts that show one hash. */
const LOOK = ["listing", "registers", "map"];

/** The parts that show a function of the key. */
const FUNCTION = ["kinds", "ports", "function"];

/** The functions that draw the figures of many hashes, in order. */
const PICTURES: Record<string, distributions.Draw> = {
  instructions: distributions.instructions,
  "group-f": distributions.groupF,
  "group-e": distributions.groupE,
  "program-times": distributions.programTimes,
  "hash-times": distributions.hashTimes,
  phases: distributions.phases,
};

/** The open view. */
class Explore {
  readonly #root: HTMLElement;
  readonly #form: Form;
  readonly #client = new Client();
  /** Generates the key's functions while the other client's worker counts. */
  readonly #functions = new Client();
  readonly #closing = new AbortController();
  readonly #bar: ProgressBar;
  readonly #submit: HTMLButtonElement;
  readonly #register: HTMLSelectElement;
  readonly #function: HTMLSelectElement;
  /** Stops the drawing of each part. */
  readonly #stops = new Map<string, () => void>();
  #abort = new AbortController();
  /** The results that are completely drawn. All belong to `#key`. */
  #counted: Counted = {};
  #key = "";
  #settings: Settings | undefined;

  constructor(root: HTMLElement) {
    this.#root = root;
    this.#form = new Form(root);
    this.#submit = find(root, "#explore-form [type=submit]", HTMLButtonElement);
    this.#register = find(root, "#explore-register", HTMLSelectElement);
    this.#function = find(root, "#explore-function", HTMLSelectElement);
    this.#register.append(...REGISTERS.map((name) => make("option", name)));
    this.#bar = new ProgressBar({
      label: "Exploring the hash",
      onCancel: () => {
        this.#abort.abort();
      },
    });
    this.#listen();
  }

  /** Explores the hash that an address names. */
  open(query: URLSearchParams): void {
    this.#form.fill(query);
    this.#start();
  }

  /** Aborts the work, and frees its memory. */
  close(): void {
    this.#abort.abort();
    this.#closing.abort();
    this.#client.close();
    this.#functions.close();
    for (const stop of this.#stops.values()) stop();
    this.#stops.clear();
  }

  #listen(): void {
    find(this.#root, "#explore-form", HTMLFormElement).addEventListener("submit", (event) => {
      event.preventDefault();
      if (isDisabled(this.#submit)) return;
      remember("explore", this.#form.query());
      this.#start();
    });
    this.#register.addEventListener("change", () => {
      this.#drawRegister();
    });
    this.#function.addEventListener("change", () => {
      this.#changeFunction();
    });
  }

  #start(): void {
    this.#abort.abort();
    const settings = this.#form.read();
    if (!settings) return;
    this.#abort = new AbortController();
    this.#settings = settings;
    this.#part("function-problem").replaceChildren();
    const again = (): void => {
      this.#submit.focus();
      this.#start();
    };
    void this.#guard("problem", () => this.#run(settings, this.#abort.signal), again);
  }

  /** Shows the chosen function. A failure does not replace that of the hash. */
  #changeFunction(): void {
    const again = (): void => {
      this.#function.focus();
      this.#changeFunction();
    };
    void this.#guard("function-problem", () => this.#requestFunction(), again);
  }

  /** Does some work. If it fails, shows its error in a part, with a button that calls `again`. */
  async #guard(part: string, work: () => Promise<void>, again: () => void): Promise<void> {
    const place = this.#part(part);
    const abort = this.#abort;
    place.replaceChildren();
    try {
      await work();
    } catch (thrown) {
      // Aborted work shows nothing, since new work may have started.
      if (thrown instanceof RandomXError && thrown.code === "aborted") return;
      const words = failure(await causeOf(thrown));
      // The part belongs to a newer run.
      if (this.#abort !== abort) return;
      place.replaceChildren(problem(words, again));
    }
  }

  async #run(settings: Settings, signal: AbortSignal): Promise<void> {
    this.#clearUnlessOf(hex(settings.key));
    const onAbort = (): void => {
      this.#bar.end("");
      setDisabled(this.#submit, false);
      this.#clearUnfinished();
      this.#showStatus(`Cancelled. ${this.#shown()}`.trim());
    };
    signal.addEventListener("abort", onAbort);
    setDisabled(this.#submit, true);
    this.#bar.reset();
    this.#part("progress").append(this.#bar.element);
    this.#showStatus("Generating the key’s functions…");
    try {
      await this.#requestFunction();
      await this.#requestLook(settings, signal);
      await this.#requestFigures(settings, signal);
      // The bar belongs to the next run.
      if (signal.aborted) return;
      this.#bar.set(1);
      this.#bar.end("");
    } catch (thrown) {
      if (!signal.aborted) {
        this.#bar.end("");
        this.#showStatus(this.#shown());
      }
      throw thrown;
    } finally {
      signal.removeEventListener("abort", onAbort);
      if (!signal.aborted) setDisabled(this.#submit, false);
    }
  }

  /** Shows the chosen function of the key, unless another one is chosen meanwhile. Cancel leaves it alone. */
  async #requestFunction(): Promise<void> {
    const { key } = this.#settings ?? {};
    if (!key) return;
    const { signal } = this.#closing;
    const { value } = this.#function;
    const args = { key, number: Number(value) - 1 };
    const isStale = (): boolean => this.#settings?.key !== key || this.#function.value !== value;
    const made = await this.#functions.request("superscalar", args, { signal });
    if (isStale()) return;
    this.#counted = { ...this.#counted, superscalar: made };
    this.#part("kinds").replaceChildren(legend(KINDS));
    this.#draw("ports", (width) => ports(made, width));
    await nextFrame();
    if (isStale()) return;
    this.#drawDocument();
    await describe(this.#part("function"), made);
  }

  async #requestLook(settings: Settings, signal: AbortSignal): Promise<void> {
    const onProgress = ({ phase, done }: Progress): void => {
      if (phase === "cache") this.#showStatus("Filling the key’s cache, 256 MiB…");
      else this.#showStatus("Exploring one hash…");
      this.#bar.set(CACHE_SHARE * (phase === "cache" ? done : 1));
    };
    const look = await this.#client.request("look", settings, { signal, onProgress });
    const { superscalar } = this.#counted;
    this.#counted = superscalar ? { superscalar } : {};
    this.#clearUnfinished();
    await showListing(this.#part("listing"), look.exploration.lines);
    if (await isStopped(signal)) return;
    this.#part("map").replaceChildren(writeMap(look));
    if (await isStopped(signal)) return;
    this.#counted = { ...this.#counted, look, version: settings.version };
    this.#drawRegister();
    this.#drawDocument();
    this.#showStatus(this.#shown());
  }

  async #requestFigures(settings: Settings, signal: AbortSignal): Promise<void> {
    const onProgress = ({ done }: Progress): void => {
      this.#bar.set(CACHE_SHARE + (1 - CACHE_SHARE) * done);
    };
    const figures = await this.#client.request("count", settings, { signal, onProgress });
    for (const [part, draw] of Object.entries(PICTURES)) {
      if (await isStopped(signal)) return;
      this.#draw(part, (width) => draw(figures, width));
    }
    this.#counted = { ...this.#counted, figures };
    this.#drawDocument();
    this.#showStatus(this.#shown());
  }

  /** Names the hash that is shown, if there is one. */
  #shown(): string {
    const { look, figures } = this.#counted;
    if (!look) return "";
    const hash = `The hash is ${look.exploration.hash}.`;
    if (!figures) return hash;
    return `${hash} The distributions are of ${whole(figures.hashes)} hashes.`;
  }

  /** Clears everything that belongs to another key, so that the view never shows two. */
  #clearUnlessOf(key: string): void {
    if (key === this.#key) return;
    this.#key = key;
    this.#counted = {};
    this.#clear(FUNCTION);
    this.#clearUnfinished();
  }

  /** Clears the parts whose results are not in `#counted`. */
  #clearUnfinished(): void {
    if (!this.#counted.look) this.#clear(LOOK);
    if (!this.#counted.figures) this.#clear(Object.keys(PICTURES));
    this.#drawDocument();
  }

  /** Makes parts look as they did when the view opened. */
  #clear(parts: readonly string[]): void {
    const first = fragment(html);
    for (const part of parts) {
      this.#stops.get(part)?.();
      this.#part(part).replaceChildren(...partOf(first, part).childNodes);
    }
  }

  #drawRegister(): void {
    const { look } = this.#counted;
    if (look) this.#draw("registers", (width) => registers(look, this.#register.value, width));
  }

  #drawDocument(): void {
    const { version } = this.#counted;
    this.#part("here").textContent = version ? `Here, version ${version}` : "Here";
    this.#part("document").replaceChildren(...documentRows(this.#counted));
  }

  #draw(part: string, figure: (width: number) => Figure): void {
    this.#stops.get(part)?.();
    this.#stops.set(part, place(this.#part(part), figure));
  }

  /** Shows the status. Screen readers would read the same words again if they were written again. */
  #showStatus(words: string): void {
    const status = this.#part("status");
    if (status.textContent !== words) status.textContent = words;
  }

  #part(name: string): HTMLElement {
    return partOf(this.#root, name);
  }
}

function partOf(root: ParentNode, name: string): HTMLElement {
  return find(root, `[data-part="${name}"]`, HTMLElement);
}

/** The approximate share of filling the cache in the whole work. */
const CACHE_SHARE = 0.3;

/** Lets the browser draw. Returns whether the run was stopped meanwhile. */
async function isStopped(signal: AbortSignal): Promise<boolean> {
  await nextFrame();
  return signal.aborted;
}
