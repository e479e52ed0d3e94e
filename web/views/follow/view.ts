/** The view Follow: a chain as it grows, from nodes and relays. */
import * as validate from "../../../wasm/js/validate.js";
import { Field } from "../../shell/field.js";
import { find, fragment, isDisabled } from "../../shell/page.js";
import { remember } from "../../shell/router.js";
import type { Mounted, View } from "../../shell/view.js";
import { ChainView } from "./chain.js";
import { Form } from "./form.js";
import { isSameSettings, readSettings, writeSettings, type Settings } from "./settings.js";
import type { State } from "./state.js";
import "./style.css";
import { Tabs, type Role } from "./tabs.js";
import html from "./view.html?raw";

export const view: View = {
  name: "follow",
  title: "Follow",
  mount(root, query) {
    root.append(fragment(html));
    return new Follow(root, query);
  },
};

class Follow implements Mounted {
  readonly #root: HTMLElement;
  readonly #form: Form;
  readonly #chain: ChainView;
  readonly #tabs: Tabs;
  readonly #clock: ReturnType<typeof setInterval>;
  #role: Role = "idle";
  #state: State | undefined;
  /** The settings that the form shows, unless the visitor has changed a field. */
  #written: Settings;

  constructor(root: HTMLElement, query: URLSearchParams) {
    this.#root = root;
    this.#chain = new ChainView(root);
    this.#form = new Form(root, (settings) => {
      remember("follow", writeSettings(settings));
      this.#showProblem("");
      this.#written = settings;
      this.#tabs.start(settings);
    });
    this.#tabs = new Tabs({
      role: (role) => {
        this.#role = role;
        this.#show();
      },
      state: (state) => {
        this.#state = state;
        this.#show();
      },
      failed: (words) => {
        this.#showProblem(words);
      },
    });
    const kept = this.#tabs.kept?.settings;
    const isGiven = query.has("node") || query.has("relay");
    this.#written = !isGiven && kept ? kept : readSettings(query);
    this.#form.write(this.#written);
    this.#on("stop", () => {
      this.#tabs.stop();
    });
    this.#on("forget", () => {
      if (confirm("Forget all chains and settings?")) this.#tabs.forget();
    });
    this.#wireLookup();
    this.#clock = setInterval(() => {
      this.#chain.tick();
    }, 1000);
    this.#show();
    this.#tabs.begin();
  }

  unmount(): void {
    clearInterval(this.#clock);
    this.#tabs.close();
  }

  #show(): void {
    // The state stays visible after a stop, until it is forgotten.
    this.#chain.show(this.#state, this.#role, this.#tabs.kept?.settings);
    find(this.#root, '[data-part="kept"]', HTMLElement).textContent = this.#keptWords();
  }

  /** Says what this browser keeps; or what is followed, if the form shows a link's settings or another tab chose. */
  #keptWords(): string {
    const { kept, isKeeping } = this.#tabs;
    if (!kept) return "";
    if (!isSameSettings(kept.settings, this.#written)) {
      const { nodes, relays } = kept.settings;
      const sources = [...nodes, ...relays].join(", ");
      return kept.isOn
        ? `This page still follows ${sources}. Press Follow to change to the settings above.`
        : "";
    }
    const next = kept.isOn ? "After a reload, following continues." : "Press Follow to go on.";
    return isKeeping
      ? `This browser keeps the chains and these settings. ${next}`
      : "This browser does not let the page keep anything. A reload begins anew.";
  }

  #showProblem(words: string): void {
    find(this.#root, "#follow-nodes-error", HTMLElement).textContent = words;
  }

  #on(part: string, click: () => void): void {
    find(this.#root, `[data-part="${part}"]`, HTMLButtonElement).addEventListener("click", click);
  }

  #wireLookup(): void {
    const field = new Field("follow-txid", validate.hash);
    const form = find(this.#root, '[data-part="find"]', HTMLFormElement);
    const submit = find(form, "[type=submit]", HTMLButtonElement);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (isDisabled(submit)) return;
      const txid = field.read();
      if (txid === undefined) field.focus();
      else this.#tabs.find(txid.toLowerCase());
    });
  }
}
