/** Addresses of the page: `#/compare?threads=2`, so that every server can serve it as one file. */
import type { ViewName } from "./view.js";

/** What an address asks for. */
export interface Route {
  /** The name as it was typed: there may be no such view. */
  name: string;
  query: URLSearchParams;
}

/** Reads `location.hash`. Nothing where it is not an address of a view, such as `#main`. */
export function parse(hash: string): Route | undefined {
  const text = hash === "" ? "#/" : hash;
  if (!text.startsWith("#/")) return undefined;
  const [name = "", query = ""] = split(text.slice(2), "?");
  return { name, query: new URLSearchParams(query) };
}

/** The address of a view, for links. */
export function href(name: ViewName, query?: URLSearchParams | Record<string, string>): string {
  const text = new URLSearchParams(query).toString();
  return text === "" ? `#/${name}` : `#/${name}?${text}`;
}

/**
 * Writes a view's settings into the address, so that a copy of it reproduces them. Nothing is opened,
 * and no step is added to the way back.
 */
export function remember(name: ViewName, query: URLSearchParams | Record<string, string>): void {
  history.replaceState(history.state, "", href(name, query));
}

/** The whole address of a view, to give to somebody else. */
export function link(name: ViewName, query?: URLSearchParams | Record<string, string>): string {
  return new URL(href(name, query), location.href).href;
}

function split(text: string, by: string): string[] {
  const at = text.indexOf(by);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + by.length)];
}
