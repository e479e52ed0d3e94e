/** Opens the view that the address names, and closes the previous one. */
import { find, make } from "./page.js";
import { problem } from "./problem.js";
import { HOME, parse, type Route } from "./router.js";
import type { Mounted, View, ViewName } from "./view.js";
import { views } from "./views.js";
import { failure } from "./words.js";

/** The open view. */
interface Open {
  name: string;
  mounted?: Mounted;
}

/** The frame around the views: `<main>` and the navigation. */
export class Shell {
  readonly #main: HTMLElement;
  readonly #links: HTMLAnchorElement[];
  readonly #title = document.title;
  #open: Open | undefined;
  /** Counts address changes, so that a view that loads too late is not shown. */
  #turn = 0;

  constructor() {
    this.#main = find(document, "main", HTMLElement);
    this.#links = [...document.querySelectorAll<HTMLAnchorElement>("nav a[data-view]")];
    find(document, ".skip", HTMLAnchorElement).addEventListener("click", (event) => {
      // The address stays that of the view.
      event.preventDefault();
      this.#main.focus();
    });
  }

  /** Opens the view of the address, now and after every change. */
  start(): void {
    addEventListener("hashchange", () => {
      const route = parse(location.hash);
      if (route) void this.#go(route, true);
    });
    void this.#go(parse(location.hash) ?? HOME, false);
  }

  /** Opens the view of an address. Moves the focus only if the visitor changed the address. */
  async #go(route: Route, byUser: boolean): Promise<void> {
    const turn = (this.#turn += 1);
    const { name } = route;
    this.#mark(name);
    if (this.#open?.name === name && this.#open.mounted?.update) {
      this.#open.mounted.update(route.query);
      return;
    }
    let view: View | undefined;
    try {
      if (isView(name)) view = await this.#load(name);
      if (turn !== this.#turn) return;
      if (view) this.#mount(view, route);
      else this.#fail(name, "There is nothing here", `The page has no view “${name}”.`);
    } catch (error) {
      if (turn !== this.#turn) return;
      // Some browsers remember a failed script until the page is reloaded.
      const words = view
        ? failure(error)
        : `Its files could not be loaded: the server of this page does not answer, or has newer ones. (${String(error)})`;
      this.#fail(name, "This view cannot be opened", words, () => {
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

  /** Closes the open view, and returns an empty element for the next. */
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
