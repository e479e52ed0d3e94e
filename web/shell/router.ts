/** Addresses such as `#/compare?threads=2`, which any server serves as one file. */
import type { ViewName } from "./view.js";

/** A parsed address. */
export interface Route {
  /** The name as typed, of a view that may not exist. */
  name: string;
  query: URLSearchParams;
}

/** The first view, which an address without a name opens. */
export const HOME: Route = { name: "verify", query: new URLSearchParams() };

/** Parses `location.hash`. Returns nothing if it is no view's address, such as `#main`. */
export function parse(hash: string): Route | undefined {
  if (hash === "") return HOME;
  if (!hash.startsWith("#/")) return undefined;
  const [name, query] = split(hash.slice(2), "?");
  return { name: name || HOME.name, query: new URLSearchParams(query) };
}

/** Returns the address of a view, for links. */
export function href(name: ViewName, query?: URLSearchParams | Record<string, string>): string {
  const text = new URLSearchParams(query).toString();
  return text === "" ? `#/${name}` : `#/${name}?${text}`;
}

/**
 * Writes a view's settings into the address, so that a copy of the address reproduces them. Opens
 * nothing and adds no history entry. Does nothing if the address names another view, which is being loaded.
 */
export function remember(name: ViewName, query: URLSearchParams | Record<string, string>): void {
  const { name: asked } = parse(location.hash) ?? HOME;
  if (asked === name) history.replaceState(history.state, "", href(name, query));
}

/** Returns the full address of a view, for sharing. */
export function link(name: ViewName, query?: URLSearchParams | Record<string, string>): string {
  return new URL(href(name, query), location.href).href;
}

function split(text: string, by: string): [string, string] {
  const at = text.indexOf(by);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + by.length)];
}
