/** Opens the view that the address asks for, and closes the one before. */
import { find, make } from "./page.js";
import { problem } from "./problem.js";
import { parse, type Route } from "./router.js";
import type { Mounted, View, ViewName } from "./view.js";
import { FIRST, views } from "./views.js";

/** What is open. */
interface Open {
  name: string;
  mounted?: Mounted;
}

/** The frame around the views: `<main>`, and the navigation that tells which one is open. */
export class Shell {
  readonly #main: HTMLElement;
  readonly #links: HTMLAnchorElement[];
  readonly #title = document.title;
  #open: Open | undefined;
  /** Counts the addresses, so that a view that is loaded too late is not shown. */
  #turn = 0;

  constructor() {
    this.#main = find(document, "main", HTMLElement);
    this.#links = [...document.querySelectorAll<HTMLAnchorElement>("nav a[data-view]")];
  }

  /** Opens the view of the address, now and whenever it changes. */
  start(): void {
    addEventListener("hashchange", () => void this.#go(true));
    void this.#go(false);
  }

  /** The keyboard stays where it is on the first view: nobody has gone anywhere yet. */
  async #go(byUser: boolean): Promise<void> {
    const route = parse(location.hash);
    if (!route) return;
    const turn = (this.#turn += 1);
    const name = route.name === "" ? FIRST : route.name;
    if (this.#open?.name === name && this.#open.mounted?.update) {
      this.#open.mounted.update(route.query);
      return;
    }
    this.#mark(name);
    try {
      const view = isView(name) ? await this.#load(name) : undefined;
      if (turn !== this.#turn) return;
      if (view) this.#mount(view, route);
      else this.#fail(name, "There is nothing here", `The page has no view “${name}”.`);
    } catch (error) {
      if (turn !== this.#turn) return;
      // Some browsers remember that a script could not be had for as long as the page is open.
      this.#fail(name, "This view cannot be opened", String(error), () => {
        location.reload();
      });
    }
    if (byUser) this.#arrive();
  }

  async #load(name: ViewName): Promise<View> {
    this.#main.ariaBusy = "true";
    try {
      return await views[name]();
    } finally {
      this.#main.ariaBusy = null;
    }
  }

  #mount(view: View, { query }: Route): void {
    const root = this.#clear(view.name);
    document.title = `${view.title} · ${this.#title}`;
    this.#open = { name: view.name, mounted: view.mount(root, query) };
  }

  #fail(name: string, title: string, words: string, again?: () => void): void {
    const root = this.#clear(name);
    document.title = `${title} · ${this.#title}`;
    const heading = make("h1", title);
    heading.tabIndex = -1;
    root.append(heading, problem(words, again));
    this.#open = { name };
  }

  /** Closes what is open, and gives an empty element for what comes. */
  #clear(name: string): HTMLElement {
    const before = this.#open;
    this.#open = undefined;
    before?.mounted?.unmount();
    const root = make("div");
    root.className = "view";
    root.dataset.view = name;
    this.#main.replaceChildren(root);
    return root;
  }

  #mark(name: string): void {
    for (const link of this.#links) {
      link.ariaCurrent = link.dataset.view === name ? "page" : null;
    }
  }

  #arrive(): void {
    this.#main.querySelector("h1")?.focus({ preventScroll: true });
    scrollTo(0, 0);
  }
}

function isView(name: string): name is ViewName {
  return Object.hasOwn(views, name);
}
